// What remains of mastic-train when a rank, a node or a link of its job is lost.
#include <gmock/gmock.h>

#include <mastic/checkpoint/store.hpp>
#include <mastic/job/run_directory.hpp>

#include "cluster/train_job.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

// Slurm's usual KillWait, so that a rank that only a SIGKILL ends is seen as such; the shortest patience with nodes.
ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = 4, .settings = {"KillWait=30", "SlurmdTimeout=3", "MessageTimeout=2"}});

class TrainLoss : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }

    std::string start(const Arguments& task) {
        return cluster.submit(batch_script(train_step({}, task)), {"-N4", "--no-requeue"});
    }

    void wait_for_checkpoint() {
        const checkpoint::CheckpointStore store(job::RunDirectory{run}.checkpoints());
        ASSERT_TRUE(wait_until([&] { return store.restore().has_value(); }, Seconds(30)));
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    std::filesystem::path run = dir / "run";
};

// As reported in torchrec 189 and lbann 905.
TEST_F(TrainLoss, AKilledRankEndsTheStep) {
    const std::string job = start(endless_task(run, {"--checkpoint.every_steps", "100"}));
    wait_for_checkpoint();
    // The rank on n2, as its own node sees it.
    ASSERT_EQ(cluster.run_on("n2", {"pkill", "-KILL", "-x", "mastic-train"}).exit_code, 0);
    // By itself, not by the SIGKILL after KillWait. tests/bench/preempt-storm measures how soon.
    EXPECT_EQ(cluster.wait_end(job, Seconds(20)), "FAILED");
    EXPECT_THAT(processes_of(run), testing::IsEmpty());
    expect_valid_checkpoints(run);
}

TEST_F(TrainLoss, ANodeWithoutPowerEndsTheJobAndTheNextOneGoesOn) {
    const std::string job = start(endless_task(run, {"--checkpoint.every_steps", "100"}));
    wait_for_checkpoint();
    cluster.node_down("n3");
    EXPECT_EQ(cluster.wait_end(job, Seconds(40)), "NODE_FAIL") << cluster.output(job);
    EXPECT_TRUE(wait_until([&] { return processes_of(run).empty(); }, Seconds(40)));
    expect_valid_checkpoints(run);
    const std::int64_t saved = step_of(newest_state(run));

    const CommandResult next = cluster.run(
        train_step({"-N3"}, endless_task(run, {"--checkpoint.every_steps", "100", "--train.max_steps",
                                               std::to_string(saved + 10)})));
    EXPECT_EQ(next.exit_code, 0) << next.output << next.error;
    EXPECT_THAT(next.output + next.error, HasSubstr("resumed at step " + std::to_string(saved)));
    EXPECT_EQ(step_of(newest_state(run)), saved + 10);
}

}  // namespace
}  // namespace mastic::test
