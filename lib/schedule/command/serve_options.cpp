#include <mastic/schedule/command/serve_options.hpp>

#include <mastic/core/own_program.hpp>

namespace mastic::schedule {
namespace {

using config::Schema;

void declare_rounds(Schema& schema, ServeOptions& options) {
    schema.section("serve", "How the manager works.");
    schema.option("serve.every", options.polling.interval, "Slurm is asked so often at most")
        .above(Seconds{0});
    schema
        .option(
            "serve.share", options.polling.share,
            "of its time that Slurm's controller may be busy with us: it is asked less often if it is slow")
        .range(0.0001, 1.0);
    schema.option("serve.patience", options.polling.patience, "for an answer of Slurm").above(Seconds{0});
    schema.option("serve.policy", options.policy, "who decides how many nodes a training gets")
        .choices({"mastic", "malletrain", "equal", "none"});
    schema.option("serve.most", options.most, "nodes of a training, whatever it asks for").range(1, 4'096);
    schema
        .option("serve.burst", options.burst,
                "pilots that are submitted at a time; others wait for the next round")
        .range(1, 1'000);
    schema
        .option("serve.spare", options.spare,
                "idle nodes that are left to others, for small jobs to start at once; pilots give back what is missing")
        .range(0, 1'000'000);
    schema
        .option("serve.silence", options.silence,
                "pilots of a training that does no step for so long while they run are ended, which counts as a failure; 0: never")
        .at_least(Seconds{0});
    schema
        .option("serve.failures", options.most_failures,
                "a training is given up after so many pilots in a row that ended with an error before it "
                "came further")
        .range(1, 1'000);
    schema.option(
        "serve.give_way", options.give_way,
        "pilots leave a node before others are planned there: for a cluster that does not preempt them");
    schema.option("serve.until_done", options.until_done, "end when all trainings have");
    schema
        .option("serve.programs", options.program_directory,
                "where mastic-train is on the nodes; empty: beside mastic-rescale")
        .metavar("DIR");
    schema.flag("once", options.once, "one round, then the end: for cron");
}

void declare_pilots(Schema& schema, ServeOptions& options) {
    PilotOptions& pilot = options.pilot;
    schema.section("pilot", "The jobs that trainings run in, one node each.");
    schema
        .option("pilot.partition", pilot.partition,
                "theirs, and only its nodes are filled: one whose jobs give way to all others; empty: the "
                "default one")
        .metavar("NAME");
    schema.option("pilot.qos", pilot.qos, "theirs: one whose jobs give way to all others").metavar("NAME");
    schema.option("pilot.account", pilot.account, "empty: the user's default").metavar("NAME");
    schema
        .option("pilot.time", pilot.longest, "time limit, in full minutes; then the node is asked for again")
        .at_least(Seconds{60});
    schema
        .option("pilot.time_min", pilot.shortest,
                "in full minutes: no pilot comes for less. Slurm may shorten its time limit by half, not below this")
        .at_least(Seconds{60});
    schema.option("pilot.nice", pilot.nice, "lowers the priority; 0: as it is").at_least(0);
    schema.option("pilot.grace", pilot.grace, "for a pilot to leave after SIGTERM; then its job is cancelled")
        .at_least(Seconds{1});
    schema.option("pilot.patience", pilot.patience, "for a pilot to start on its node; then it is withdrawn")
        .at_least(Seconds{1});
    schema.option("pilot.options", pilot.options, "further options of sbatch, such as --constraint=gpu")
        .metavar("OPTION");
}

}  // namespace

std::filesystem::path ServeOptions::programs() const {
    namespace fs = std::filesystem;
    return program_directory.empty() ? own_program().parent_path() : fs::absolute(program_directory);
}

void declare_serve_options(Schema& schema, ServeOptions& options) {
    declare_rounds(schema, options);
    declare_pilots(schema, options);
}

}  // namespace mastic::schedule
