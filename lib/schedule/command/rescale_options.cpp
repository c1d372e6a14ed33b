#include <mastic/schedule/command/rescale_options.hpp>

namespace mastic::schedule {
namespace {

using config::Schema;

std::vector<std::string> policy_names() {
    std::vector<std::string> names;
    for (const PolicyKind& kind : policy_kinds()) {
        names.emplace_back(kind.name);
    }
    return names;
}

void declare_log(Schema& schema, RescaleOptions& options) {
    schema.section("log", "The log that is replayed.");
    schema.option("log.format", options.log.format, "auto: by its first lines")
        .choices({"auto", "idle-csv", "swf", "sacct"});
    schema
        .option("log.nodes", options.log.nodes,
                "nodes of the machine; 0: as the log says, else the most used at a time; of an idle-csv: its "
                "first "
                "nodes only")
        .range(0, 1'000'000);
    schema
        .option("log.cores_per_node", options.log.cores_per_node,
                "swf counts processors; 0: as the log's header says, else 1")
        .range(0, 100'000);
    schema.option("log.begin", options.log_begin, "replay from here on");
    schema.option("log.length", options.log_length, "replay so much; 0: to the end");
    schema.option("log.write", options.log_write, "also write its idle nodes there, as idle-csv")
        .metavar("FILE");
    schema.flag("strict", options.strict, "an odd row of the log is an error (exit code 3)");
}

void declare_simulation(Schema& schema, RescaleOptions& options) {
    schema.section("simulate", "What is replayed on it.");
    schema.option("simulate.policies", options.policies, "who decides, each on its own")
        .choices(policy_names());
    schema
        .option("simulate.curves", options.curves,
                "throughput curves of trainings: a CSV with model,1,2,4,...; "
                "empty: four typical ones")
        .metavar("FILE");
    schema.option("simulate.jobs", options.jobs, "trainings at a time; when one ends, another comes")
        .range(1, 10'000);
    schema.option("simulate.least", options.least, "nodes of a training").range(1, 4'096);
    schema.option("simulate.most", options.most, "nodes of a training").range(1, 4'096);
    schema.option("simulate.work", options.median_work, "of a training on one node, median")
        .above(Seconds{0});
    schema.option("simulate.spread", options.spread, "of the work: standard deviation of its logarithm")
        .range(0.0, 5.0);
    schema
        .option("simulate.noise", options.noise, "relative error of a throughput that was measured for 20 s")
        .range(0.0, 1.0);
    schema.option("simulate.seed", options.seed, "of works, curves and noise").at_least(0);
    schema.option("simulate.fixed_size", options.fixed_size, "nodes of a job of the policy fixed")
        .range(1, 4'096);
    schema
        .option("simulate.peer_horizon", options.peer_horizon,
                "seconds ahead that bftrainer and malletrain count with")
        .above(Seconds{0});
    schema.option("simulate.horizon", options.own_horizon,
                  "seconds ahead that mastic counts with; 0: tuned each day by replaying the last one");
    schema.option("simulate.json", options.json, "also write the numbers there").metavar("FILE");
    schema
        .option("simulate.decisions", options.decisions,
                "also write each change of a training's nodes there, a JSON object a line, with its reason")
        .metavar("FILE");
}

void declare_costs(Schema& schema, RescaleOptions& options) {
    schema.section("rescale", "What changing the nodes of a training costs.");
    schema.option("rescale.restart_start", options.restart_start,
                  "growth by stopping and restarting: all nodes stand still");
    schema.option("rescale.restart_shrink", options.restart_shrink,
                  "leaving by stopping and restarting: those that stay stand still");
    schema.option("rescale.live_start", options.live_start, "live growth: until the added nodes compute");
    schema.option("rescale.live_join", options.live_join,
                  "live growth: the others stand still when they join");
    schema.option("rescale.live_leave", options.live_leave, "live leaving: those that stay stand still");
}

void declare_view(Schema& schema, RescaleOptions& options) {
    schema.section("view", "What is shown of the cluster.");
    schema.option("view.partition", options.view_partition, "only its nodes; empty: all").metavar("NAME");
}

}  // namespace

SiteLogOptions RescaleOptions::site_log() const {
    SiteLogOptions result = log;
    result.strict = strict;
    return result;
}

SimulationSettings RescaleOptions::simulation() const {
    SimulationSettings settings;
    settings.workload.slots = jobs;
    settings.workload.least = least;
    settings.workload.most = most;
    settings.workload.median_work = median_work.count();
    settings.workload.spread = spread;
    settings.workload.noise = noise;
    settings.workload.seed = static_cast<std::uint64_t>(seed);
    settings.restart = {restart_start.count(), restart_shrink.count(), 0, false};
    settings.live = {live_start.count(), live_leave.count(), live_join.count(), true};
    settings.horizon_s = peer_horizon.count();
    settings.fixed_horizon_s = own_horizon.count();
    settings.fixed_size = fixed_size;
    return settings;
}

void declare_rescale_options(Schema& schema, RescaleOptions& options) {
    declare_log(schema, options);
    declare_simulation(schema, options);
    declare_costs(schema, options);
    declare_view(schema, options);
    declare_desk_options(schema, options.desk);
    declare_serve_options(schema, options.serve);
    declare_budget(schema, options.budget);
    job::declare_slurm_options(schema, options.slurm);
}

}  // namespace mastic::schedule
