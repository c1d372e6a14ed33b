// What `mastic-train why` says of jobs that Slurm ended before they could save, and of ranks that fell silent.
#include <gmock/gmock.h>

#include "cluster/train_job.hpp"

namespace mastic::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

// Little time to save in, for ranks that do not come to it.
ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = 2, .cancel_grace_s = 2, .settings = {"KillWait=2"}});

// A rank that no signal wakes before Slurm kills it.
const Arguments stuck = {"--train.inject", "stall@20:1", "--allreduce.stall_report", "500ms"};

class Why : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }

    std::string start(const Arguments& options = {}, const Arguments& more = {}) {
        Arguments all = {"-N2", "--no-requeue", "--chdir=" + dir.path().string()};
        all.insert(all.end(), options.begin(), options.end());
        std::string job = cluster.submit(batch_script(train_step({}, endless_task(run, more))), all);
        wait_until_training(run);
        return job;
    }

    // Only then is it sure that the run cannot save what Slurm gives it time for.
    std::string start_stuck(const Arguments& options = {}) {
        const std::string job = start(options, stuck);
        EXPECT_TRUE(wait_until([&] { return cluster.output(job).find("waiting for '") != std::string::npos; },
                               Seconds(60)))
            << cluster.output(job);
        return job;
    }

    std::string page(const std::string& what) const {
        const CommandResult why = cluster.run({MASTIC_TRAIN, "why", what});
        EXPECT_EQ(why.exit_code, 0) << why.error;
        return why.output;
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    std::filesystem::path run = dir / "run";
};

TEST_F(Why, TellsThatAJobWasPreempted) {
    const std::string job = start_stuck({"-p", "cancel"});
    EXPECT_EQ(cluster.run({"srun", "-p", "normal", "-N2", "--exclusive", "true"}).exit_code, 0);
    EXPECT_EQ(cluster.wait_end(job), "PREEMPTED");
    EXPECT_THAT(page(run),
                AllOf(HasSubstr("job of higher priority"), HasSubstr("job " + job + ": PREEMPTED")));
}

TEST_F(Why, TellsThatTheTimeLimitWasReached) {
    const std::string job = start_stuck();
    cluster.output_of({"scontrol", "update", "JobId=" + job, "EndTime=now"});
    EXPECT_EQ(cluster.wait_end(job), "TIMEOUT");
    EXPECT_THAT(page(run), HasSubstr("reached its time limit"));
    EXPECT_EQ(page(job), page(run)) << "a job is as good as its run directory";
}

// As by the kernel for want of memory: to Slurm both are the same, unless it has set the limit itself.
TEST_F(Why, NamesTheRankThatWasKilled) {
    const std::string job = start();
    ASSERT_EQ(cluster.run_on("n2", {"pkill", "-KILL", "-x", "mastic-train"}).exit_code, 0);
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_THAT(page(run),
                AllOf(ContainsRegex("first +rank 1 on n2 was killed in step [0-9]+ .*, with SIGKILL"),
                      HasSubstr("`dmesg -T` on n2")))
        << cluster.output(job);
}

TEST_F(Why, NamesTheRankThatFellSilent) {
    const std::string job = start({}, {"--allreduce.stall_report", "1s", "--allreduce.timeout", "4s"});
    ASSERT_EQ(cluster.run_on("n2", {"pkill", "-STOP", "-x", "mastic-train"}).exit_code, 0);
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(record_of(run).attempt.exit_code, 7) << cluster.output(job);
    EXPECT_THAT(page(run), HasSubstr("rank 1 on n2"));
}

}  // namespace
}  // namespace mastic::test
