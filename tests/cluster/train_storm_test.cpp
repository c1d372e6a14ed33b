// A training that is preempted again and again, by slurm/train.sbatch as it is shipped.
// MASTIC_PREEMPTIONS=200 makes it longer.
#include <algorithm>
#include <cstdlib>

#include <mastic/job/run_directory.hpp>

#include "cluster/shipped_script.hpp"

namespace mastic::test {
namespace {

ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = 4, .cancel_grace_s = 20, .settings = {"KillWait=20"}});

int preemptions() {
    const char* const wanted = std::getenv("MASTIC_PREEMPTIONS");
    return wanted == nullptr ? 20 : std::atoi(wanted);
}

std::int64_t steps_done(const std::filesystem::path& run) {
    const auto file = job::RunDirectory{run}.metrics_file();
    return std::filesystem::exists(file) && !losses_of(run).empty() ? metrics_of(run).steps.back().step : 0;
}

// All jobs of a run write into the log of the first.
std::string situation(const SlurmCluster& cluster, const std::string& log, const std::string& job) {
    constexpr std::size_t newest = 6000;
    return log.substr(log.size() - std::min(log.size(), newest)) + "\n" + cluster.run({"squeue"}).output +
           cluster.run({"scontrol", "show", "job", job}).output + cluster.run({"sinfo", "-N", "-l"}).output;
}

TEST(TrainStorm, NoPreemptionCostsAStep) {
    SlurmCluster& cluster = environment->cluster();
    const TempDir dir;
    const std::filesystem::path run = dir / "run";
    const ShippedScript script(cluster, TRAIN_SCRIPT, dir.path());
    const std::string first = script.start(endless_task(run, {"--train.inject", "slow@10000"}), {"-p", "cancel"});
    std::string job = first;
    std::int64_t before = 0;
    for (int preemption = 1; preemption <= preemptions(); ++preemption) {
        ASSERT_TRUE(wait_until([&] { return steps_done(run) > before; }, Seconds(60)))
            << "preemption " << preemption << ", step " << before << "\n"
            << situation(cluster, script.log(first), job);
        const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N4", "--exclusive", "true"});
        ASSERT_EQ(urgent.exit_code, 0) << urgent.error;
        job = script.successor_of(job);
        before = steps_done(run);
    }
    ASSERT_TRUE(wait_until([&] { return steps_done(run) > before; }, Seconds(60))) << script.log(first);
    cluster.output_of({"scancel", job});
    cluster.wait_end(job);
    const std::int64_t last = steps_done(run);
    EXPECT_EQ(record_of(run).restarts.size(), static_cast<std::size_t>(preemptions()));
    for (const report::RunAttempt& attempt : record_of(run).restarts) {
        EXPECT_EQ(attempt.exit_code, 75);
    }
    expect_every_step_once(run, last, 16);
    expect_valid_checkpoints(run);
    cluster.clear();
}

}  // namespace
}  // namespace mastic::test
