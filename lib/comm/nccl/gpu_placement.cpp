#include <mastic/comm/nccl/gpu_placement.hpp>

#include <algorithm>

namespace mastic::comm {

GpuPlacement place_on_gpus(std::span<const std::string> uuids, int rank, int version) {
    const bool each_alone = version >= nccl_shares_gpus_since;
    const auto leader_of = [&](int of) {
        const auto first = std::ranges::find(uuids, uuids[static_cast<std::size_t>(of)]);
        return each_alone ? of : static_cast<int>(first - uuids.begin());
    };
    GpuPlacement placement;
    const int mine = leader_of(rank);
    for (int other = 0; other < static_cast<int>(uuids.size()); ++other) {
        const int leader = leader_of(other);
        if (leader == other) {
            placement.leaders.push_back(other);
        }
        if (leader == mine) {
            placement.local_ranks.push_back(other);
        }
    }
    placement.place =
        static_cast<int>(std::ranges::find(placement.leaders, mine) - placement.leaders.begin());
    return placement;
}

}  // namespace mastic::comm
