// mastic-rescale view: which nodes of this cluster are idle, and until when?
#include <iostream>

#include <mastic/schedule/command/command_context.hpp>
#include <mastic/schedule/slurm_poller.hpp>
#include <mastic/schedule/view_report.hpp>

namespace mastic::schedule {

int view_command(const CommandContext& context) {
    if (context.invocation.dry_run) {
        std::cout << "would ask Slurm once:\n" << shown_commands();
        return 0;
    }
    const ClusterView view = ask_slurm(run_command, std::chrono::system_clock::now());
    warn_of(view);
    const std::vector<NodeForecast> forecast = forecast_idle(view, {{}, context.options.view_partition});
    std::cout << (context.invocation.json ? view_json(view, forecast) : view_text(view, forecast));
    return 0;
}

}  // namespace mastic::schedule
