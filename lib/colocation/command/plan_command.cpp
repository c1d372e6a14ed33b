// mastic-mps plan: which rank would work where?
#include <iostream>

#include <nlohmann/json.hpp>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::colocation {
namespace {

Share share_of(const CommandContext& context, const Placement& placement) {
    Share share{parse_thread_percentage(context.options.thread_percentage),
                parse_memory_limit(context.options.memory_limit), std::nullopt};
    if (wants_mps(context.options, placement)) {
        share.mps = MpsPlace{};  // where it listens shows when it runs
    }
    return share;
}

EnvironmentChange environment_of(const CommandContext& context, const Placement& placement,
                                 const RankPlace& rank) {
    EnvironmentChange change = environment_of(rank, placement.devices[rank.device],
                                              share_of(context, placement), context.environment);
    change.erase("CUDA_MPS_PIPE_DIRECTORY");
    return change;
}

std::string value_of(const EnvironmentChange& change, const std::string& name) {
    const auto found = change.find(name);
    return found == change.end() ? "-" : found->second.value_or("-");
}

std::string numa_text(const Device& device) {
    return device.numa ? std::to_string(*device.numa) : "-";
}

}  // namespace

std::string placement_text(const CommandContext& context, const NodeDevices& node,
                           const Placement& placement) {
    report::TextTable table;
    table.header = {"local rank", "device",  "model",         "NUMA",
                    "CPUs",       "threads", "GPU threads %", "memory limit"};
    for (const RankPlace& rank : placement.ranks) {
        const Device& device = placement.devices[rank.device];
        const EnvironmentChange change = environment_of(context, placement, rank);
        table.rows.push_back({std::to_string(rank.local_rank), device.id, device.model, numa_text(device),
                              job::compact_ranges(rank.binding.pus), std::to_string(rank.threads),
                              value_of(change, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"),
                              value_of(change, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT")});
    }
    std::string text =
        context.job.host + ": " + std::to_string(placement.devices.size()) + " devices (" + node.source +
        ")" + (wants_mps(context.options, placement) ? "; under MPS\n" : "; without MPS\n") + to_text(table);
    for (const auto* notes : {&node.notes, &placement.notes}) {
        for (const std::string& note : *notes) {
            text += "note: " + note + "\n";
        }
    }
    return text;
}

std::string placement_json(const CommandContext& context, const NodeDevices& node,
                           const Placement& placement) {
    nlohmann::json ranks = nlohmann::json::array();
    for (const RankPlace& rank : placement.ranks) {
        const Device& device = placement.devices[rank.device];
        nlohmann::json variables = nlohmann::json::object();
        for (const auto& [name, value] : environment_of(context, placement, rank)) {
            variables[name] = value.value_or("");
        }
        ranks.push_back({{"local_rank", rank.local_rank},
                         {"device", device.id},
                         {"model", device.model},
                         {"numa", device.numa ? nlohmann::json(*device.numa) : nlohmann::json()},
                         {"cpus", rank.binding.pus},
                         {"threads", rank.threads},
                         {"sharers", rank.sharers},
                         {"environment", variables}});
    }
    std::vector<std::string> notes = node.notes;
    notes.insert(notes.end(), placement.notes.begin(), placement.notes.end());
    const nlohmann::json all = {{"host", context.job.host},
                                {"source", node.source},
                                {"mps", wants_mps(context.options, placement)},
                                {"ranks", ranks},
                                {"notes", notes}};
    return all.dump(2) + "\n";
}

int plan_command(const CommandContext& context) {
    const job::CpuView cpus = observe_own_cpus();
    const NodeDevices node = find_devices(context.options, context.environment, cpus);
    const Placement placement = place(context, node, cpus);
    if (context.job.local_rank == 0) {
        std::cout << (context.invocation.json ? placement_json(context, node, placement)
                                              : placement_text(context, node, placement));
    }
    return 0;
}

}  // namespace mastic::colocation
