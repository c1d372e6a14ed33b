// Every option of mastic-rescale.
#pragma once

#include <string>
#include <vector>

#include <mastic/config/schema.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/job/batch/batch_script.hpp>
#include <mastic/schedule/command/desk_options.hpp>
#include <mastic/schedule/command/serve_options.hpp>
#include <mastic/schedule/manager/budget.hpp>
#include <mastic/schedule/simulation.hpp>
#include <mastic/schedule/site_log.hpp>

namespace mastic::schedule {

struct RescaleOptions {
    SiteLogOptions log;
    std::string log_write;
    Seconds log_begin{0};
    Seconds log_length{0};  // 0: to the end

    std::vector<std::string> policies{"oracle", "none",      "fixed",      "equal",
                                      "greedy", "bftrainer", "malletrain", "mastic"};
    std::string curves;  // file; "": typical ones
    int jobs = 10;
    int least = 1;
    int most = 64;
    Seconds median_work{16 * 3600};
    double spread = 0.8;
    double noise = 0.02;
    int seed = 1;
    int fixed_size = 8;
    Seconds peer_horizon{120};
    Seconds own_horizon{0};
    std::string json;
    std::string decisions;

    Seconds restart_start{18};
    Seconds restart_shrink{12};
    Seconds live_start{18};
    Seconds live_join{1};
    Seconds live_leave{2};

    std::string view_partition;  // "": all

    DeskOptions desk;
    ServeOptions serve;
    BudgetOptions budget;

    bool strict = false;

    // Of the manager's own job.
    job::SlurmOptions slurm = job::general_batch_request(job::BatchWork::manage).options;

    SiteLogOptions site_log() const;
    SimulationSettings simulation() const;  // without the curves
};

void declare_rescale_options(config::Schema& schema, RescaleOptions& options);

}  // namespace mastic::schedule
