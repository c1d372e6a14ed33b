#include <mastic/comm/plan/algorithms.hpp>

#include <mastic/core/named.hpp>
#include <mastic/comm/plan/detail/methods.hpp>

namespace mastic::comm {

namespace {

struct CollectiveName {
    Collective collective;
    const char* name;
};

constexpr CollectiveName names[] = {
    {Collective::allreduce, "allreduce"},
    {Collective::broadcast, "broadcast"},
    {Collective::reduce_scatter, "reduce-scatter"},
    {Collective::allgather, "allgather"},
};

constexpr PlanAlgorithm table[] = {
    {Collective::allreduce, "ring",
     "2(p-1) steps of a p-th of the buffer to the next rank: least volume, for large buffers (Patarasu, Yuan "
     "2009)",
     detail::ring_allreduce},
    {Collective::allreduce, "bidirectional-ring",
     "two rings in opposite directions, each on half of the buffer: for networks where neighbours have their "
     "own links",
     detail::bidirectional_ring_allreduce},
    {Collective::allreduce, "recursive-doubling",
     "log2(p) exchanges of the whole buffer: least latency, for small buffers (Thakur, Rabenseifner, Gropp "
     "2005)",
     detail::recursive_doubling_allreduce},
    {Collective::allreduce, "rabenseifner",
     "recursive halving, then doubling: least volume in 2 log2(p) rounds if p is a power of two "
     "(Rabenseifner 2004)",
     detail::rabenseifner_allreduce},
    {Collective::broadcast, "binomial",
     "a binomial tree: log2(p) rounds, for small buffers (Thakur et al. 2005)", detail::binomial_broadcast},
    {Collective::broadcast, "chain",
     "each rank passes on what it receives while it arrives: one buffer over each link, for large buffers on "
     "few ranks",
     detail::chain_broadcast},
    {Collective::broadcast, "scatter-allgather",
     "binomial scatter, then a ring: for large buffers on many ranks (van de Geijn; Thakur et al. 2005)",
     detail::scatter_allgather_broadcast},
    {Collective::reduce_scatter, "ring",
     "p-1 steps to the next rank, which adds and passes on (Patarasu, Yuan 2009)",
     detail::ring_reduce_scatter},
    {Collective::reduce_scatter, "pairwise",
     "each rank sends its contribution to a part straight to its owner: a 16-bit wire rounds it once (Thakur "
     "et al. 2005)",
     detail::pairwise_reduce_scatter},
    {Collective::reduce_scatter, "recursive-halving",
     "log2(p) exchanges of halves, quarters, ...: for small buffers (Thakur et al. 2005)",
     detail::recursive_halving_reduce_scatter},
    {Collective::allgather, "ring",
     "p-1 steps to the next rank: neighbours only, for large buffers (Thakur et al. 2005)",
     detail::ring_allgather},
    {Collective::allgather, "bruck",
     "what a rank has doubles in each of log2(p) rounds, for any number of ranks: for small buffers (Bruck "
     "et al. 1997)",
     detail::bruck_allgather},
};

}  // namespace

const char* to_string(Collective collective) {
    return names[static_cast<std::size_t>(collective)].name;
}

Collective parse_collective(std::string_view name) {
    return require_named(std::span<const CollectiveName>(names), name, "collective operation").collective;
}

std::span<const PlanAlgorithm> plan_algorithms() {
    return table;
}

const PlanAlgorithm* find_plan_algorithm(Collective collective, std::string_view name) {
    for (const PlanAlgorithm& entry : table) {
        if (entry.collective == collective && name == entry.name) {
            return &entry;
        }
    }
    return nullptr;
}

}  // namespace mastic::comm
