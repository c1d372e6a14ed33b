#include <mastic/colocation/conflicts.hpp>

#include <algorithm>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

bool exclusive(const Device& device) {
    return device.mode == ComputeMode::exclusive_process || device.mode == ComputeMode::exclusive_thread;
}

std::string change_mode(const Device& device) {
    return "the administrator can set it: nvidia-smi -i " +
           (device.parent.empty() ? device.id : device.parent) + " --compute-mode=DEFAULT";
}

void check_prohibited(const Device& device) {
    if (device.mode == ComputeMode::prohibited) {
        throw Error(ExitCode::environment,
                    device.id + " is in compute mode prohibited: no process may use it", change_mode(device));
    }
}

void check_exclusive(const Device& device, int sharers, bool with_mps, const Neighbours& neighbours) {
    if (!exclusive(device)) {
        return;
    }
    const std::string mode = device.id + " is in compute mode " + to_string(device.mode) + ", ";
    if (sharers > 1 && !with_mps) {
        throw Error(
            ExitCode::environment,
            mode + "which lets one process in, but " + std::to_string(sharers) + " ranks are to share it",
            "leave out --mps off: under MPS all ranks count as one process; or " + change_mode(device));
    }
    if (!device.users.empty()) {
        throw Error(
            ExitCode::environment,
            mode + "and process " + std::to_string(device.users.front()) + " has it already",
            "`mastic-mps clean` removes daemons that dead jobs of yours left; is it another user's job?");
    }
    if (with_mps && !neighbours.foreign_mps_servers.empty()) {
        const ForeignProcess& other = neighbours.foreign_mps_servers.front();
        throw Error(ExitCode::environment,
                    mode + "and user " + std::to_string(other.owner) +
                        " runs an MPS daemon on this node (process " + std::to_string(other.pid) +
                        "), which may hold it",
                    "ask for whole nodes (sbatch --exclusive), or " + change_mode(device));
    }
}

}  // namespace

std::vector<std::string> check_conflicts(const Placement& placement, bool with_mps,
                                         const Neighbours& neighbours) {
    std::vector<std::string> notes;
    for (const RankPlace& rank : placement.ranks) {
        const Device& device = placement.devices[rank.device];
        if (device.kind == DeviceKind::cores || rank.index > 0) {
            continue;
        }
        check_prohibited(device);
        check_exclusive(device, rank.sharers, with_mps, neighbours);
        const bool shared = std::ranges::any_of(
            device.users, [&](int user) { return std::ranges::count(neighbours.foreign_users, user) > 0; });
        if (shared) {
            notes.push_back("another user computes on " + device.id + " too");
        }
    }
    return notes;
}

}  // namespace mastic::colocation
