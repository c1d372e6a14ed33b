#include <mastic/job/batch/lost_nodes.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>

#include <mastic/job/host_list.hpp>

namespace mastic::job {

std::vector<std::string> lost_nodes(const std::string& node_list, const CommandRunner& run) {
    std::vector<std::string> nodes = expand_or_none(node_list);
    if (nodes.empty()) {
        return {};
    }
    const std::string count = std::to_string(nodes.size());
    const CommandResult result =
        run({"srun", "--overlap", "--nodes=" + count, "--ntasks=" + count, "--ntasks-per-node=1",
             "--mpi=none", "--kill-on-bad-exit=0", "sh", "-c", "echo \"$SLURMD_NODENAME\""},
            Seconds(60));
    std::istringstream words(result.output);
    const std::vector<std::string> alive{std::istream_iterator<std::string>(words), {}};
    if (alive.empty()) {
        return {};
    }
    std::erase_if(nodes, [&](const std::string& node) { return std::ranges::count(alive, node) > 0; });
    return nodes;
}

}  // namespace mastic::job
