// Binding a rank to cores of its own. Unbound ranks migrate and their allreduce was measured 1,000 times
// slower at 4 KB. Slurm binds by itself in many set-ups; hydra does not.
//
// PU: what the operating system calls a CPU (a hardware thread), by its OS number. Core: the PUs that share
// one. Lists are in the order of the topology, so neighbours in a list share caches and memory.
#pragma once

#include <string>
#include <vector>

namespace mastic::job {

using Core = std::vector<int>;  // OS numbers of its PUs

struct CpuView {
    std::vector<Core> allowed;  // what the job may use on this node (cgroup), by core
    std::vector<int> bound;     // PUs of this process' affinity mask, ascending
    // The caller has compared the masks of the node's ranks and they are equal (`taskset -c 0-7 mpiexec
    // ...`): a narrow mask then is the node's share and not this rank's.
    bool bound_is_shared = false;
    std::vector<int> numa = {};  // of each allowed core: its NUMA node, by OS number; empty: not known
};

CpuView observe_cpus();  // of the calling process

// A launcher has chosen PUs for this very process: its mask leaves out some of the allowed ones.
bool bound_by_launcher(const CpuView& cpus);

// What the ranks of this node share: the allowed cores, less what a common mask leaves out.
CpuView common_cpus(const CpuView& cpus);

// Number `index` of `count` runs of these cores, whose lengths differ by at most one; count <= cores.size().
std::vector<Core> share_of(const std::vector<Core>& cores, std::size_t index, std::size_t count);

std::vector<int> pus_of(const std::vector<Core>& cores);  // ascending

struct Binding {
    std::vector<int> pus;  // what the rank runs on; ascending
    int cores = 0;         // distinct cores among them
    bool changed = false;  // this program did the binding
    std::string reason;    // why so, or why not
};

// The pure part. A process whose own mask leaves out some of the allowed PUs was bound by its launcher and is
// left alone. Else the allowed cores are cut into local_size runs whose lengths differ by at most one; rank r
// gets run r. With fewer cores than ranks nobody is bound.
Binding plan_binding(const CpuView& cpus, int local_rank, int local_size);

// What the process has by now, left as it is.
Binding present_binding(const CpuView& cpus);

// Applies a plan to the whole process, its present threads included. A refusal of the system leaves the process as it is
// and is told in `reason`.
Binding apply_binding(const Binding& plan, const CpuView& cpus);

// Both.
Binding bind_rank(const CpuView& cpus, int local_rank, int local_size);

// Computing threads per rank if the user names none: the cores that are the rank's own, at least 1.
int default_threads(const CpuView& cpus, int local_size);

// For --print-binding: "2 cores (CPU 0-3): bound by mastic to its share of 8 cores; 2 threads".
std::string describe(const Binding& binding, int threads);

// "0-3,8".
std::string compact_ranges(const std::vector<int>& ascending);

}  // namespace mastic::job
