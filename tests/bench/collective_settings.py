"""The settings of each side's collectives that the benchmark tries: a name, and the words of a command to a rank.

The commands are those of collective/server.hpp; what the words mean is said in collective/mpi_peer.cpp, gloo_peer.cpp
and ours.cpp. The numbers are the values that MPICH 4.0 and Open MPI 4.1 give their algorithms.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    name: str
    words: str = ""
    quick: bool = False  # also tried in a quick run


AUTO, NON_BLOCKING = Setting("auto", quick=True), Setting("non-blocking", "call=nonblocking", True)
PIPELINES = tuple(Setting(f"non-blocking, {segment} x {depth}", f"call=pipelined segment={segment} depth={depth}", True)
                  for segment, depth in (("256K", 4), ("1M", 4)))
BASIC = (AUTO, NON_BLOCKING, *PIPELINES)


def _mpich_algorithms(function, blocking, non_blocking, quick=()):
    """The default, all blocking algorithms (in MPICH's own layer), the non-blocking default and its algorithms."""
    prefix = f"control.MPIR_CVAR_{function}"
    yield AUTO
    for number, name in enumerate(blocking, 1):
        yield Setting(name, f"{prefix}_INTRA_ALGORITHM={number} {prefix}_DEVICE_COLLECTIVE=0", name in quick)
    yield NON_BLOCKING
    for number, name in non_blocking.items():
        yield Setting(f"non-blocking {name}",
                      f"call=nonblocking control.MPIR_CVAR_I{function}_INTRA_ALGORITHM={number}", name in quick)
    yield from PIPELINES


# Only algorithms for any communicator that do what their name says: sched_smp is the automatic choice again.
MPICH_ALLREDUCE = (
    *_mpich_algorithms(
        "ALLREDUCE", ("nb", "smp", "recursive_doubling", "reduce_scatter_allgather"),
        {5: "sched_reduce_scatter_allgather", 6: "tsp_recexch_single_buffer", 8: "tsp_tree", 9: "tsp_ring",
         10: "tsp_recexch_reduce_scatter_recexch_allgatherv"},
        quick=("recursive_doubling", "reduce_scatter_allgather", "tsp_ring")),
    Setting("no device collective", "control.MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0"),
    Setting("posix mpir", "control.MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=0"),
    Setting("posix release_gather", "control.MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=1", True),
)

MPICH = {
    "allreduce": MPICH_ALLREDUCE,
    "broadcast": tuple(_mpich_algorithms(
        "BCAST", ("binomial", "nb", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
        {6: "tsp_tree", 8: "tsp_ring"}, quick=("binomial", "scatter_ring_allgather"))),
    "reduce-scatter": tuple(_mpich_algorithms(
        "REDUCE_SCATTER_BLOCK", ("noncommutative", "recursive_doubling", "pairwise", "recursive_halving", "nb"),
        {6: "tsp_recexch"}, quick=("pairwise", "recursive_halving"))),
}

OPEN_MPI = {
    "allreduce": tuple(
        Setting(name, f"communicator=own control.coll_tuned_allreduce_algorithm={number}", number in (0, 3, 4, 6))
        for number, name in enumerate(("auto", "basic_linear", "nonoverlapping", "recursive_doubling", "ring",
                                       "segmented_ring", "rabenseifner"))),
}

GLOO = {
    "allreduce": tuple(Setting(name, f"algorithm={name}", name in ("ring_chunked", "halving_doubling"))
                       for name in ("ring", "ring_chunked", "halving_doubling", "bcube", "new_ring")),
}
