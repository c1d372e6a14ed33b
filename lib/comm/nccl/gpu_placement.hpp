// Which ranks share a GPU, and who stands for them in NCCL.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mastic::comm {

// NCCL before 2.30 refuses two ranks on one GPU ("Duplicate GPU detected").
inline constexpr int nccl_shares_gpus_since = 23000;

struct GpuPlacement {
    std::vector<int>
        local_ranks;  // of this rank's GPU, ascending; the first one leads. Alone where NCCL shares GPUs
    std::vector<int> leaders;  // of all GPUs, ascending: the ranks of NCCL
    int place = 0;             // of this rank's leader among them

    bool shared() const { return local_ranks.size() > 1; }
    bool leads(int rank) const { return local_ranks.front() == rank; }
};

// `uuids`: of the GPU of each rank. `version` of NCCL.
GpuPlacement place_on_gpus(std::span<const std::string> uuids, int rank, int version);

}  // namespace mastic::comm
