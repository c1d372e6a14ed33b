// slurm/train.sbatch as it is shipped: how jobs end, and whether the right ones go on.
#include <chrono>

#include <gmock/gmock.h>

#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>

#include "cluster/shipped_script.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int cancel_grace_s = 20;

ClusterEnvironment* const environment = ClusterEnvironment::add(
    {.nodes = 4, .requeue_grace_s = 20, .cancel_grace_s = cancel_grace_s, .settings = {"KillWait=20"}});

class TrainScript : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }

    void expect_resumed_from(std::int64_t step) const {
        EXPECT_TRUE(wait_until([&] { return record_of(run).restarts.size() == 1; }, Seconds(30)));
        EXPECT_EQ(record_of(run).attempt.first_step, step);
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    std::filesystem::path run = dir / "run";
    ShippedScript script{cluster, TRAIN_SCRIPT, dir.path()};
};

TEST_F(TrainScript, TrainsOnFourNodesToTheEnd) {
    const std::string job = script.start(small_task(run));
    EXPECT_EQ(cluster.wait_end(job), "COMPLETED") << script.log(job);
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    EXPECT_EQ(record_of(run).attempt.world_size, 4);
    EXPECT_THAT(queue(cluster), IsEmpty());
}

// As reported in Lightning 6626 and WarpX 4665: the signal reaches only the shell.
TEST_F(TrainScript, ASignalToTheShellSavesOnAllRanksAndOneJobGoesOn) {
    const std::string job = script.start(endless_task(run));
    wait_until_training(run);
    cluster.output_of({"scancel", "-b", "-s", "USR1", job});
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 75) << script.log(job);
    const std::string next = script.successor_of(job);
    EXPECT_THAT(script.log(job), HasSubstr("job " + next + " goes on"));
    expect_resumed_from(step_of(newest_state(run)));
    expect_valid_checkpoints(run);
}

// As reported in torchrec 189 and lbann 905.
TEST_F(TrainScript, AKilledRankEndsTheJobWhichNamesIt) {
    const std::string job = script.start(endless_task(run, {"--checkpoint.every_steps", "100"}));
    wait_until_training(run);
    ASSERT_EQ(cluster.run_on("n2", {"pkill", "-KILL", "-x", "mastic-train"}).exit_code, 0);
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 7);
    EXPECT_EQ(record_of(run).attempt.exit_code, 7);
    EXPECT_THAT(record_of(run).attempt.reason, HasSubstr("rank 1 on n2"));
    EXPECT_THAT(queue(cluster), IsEmpty());
    const CommandResult why = cluster.run({MASTIC_TRAIN, "why", run.string()});
    EXPECT_THAT(why.output, HasSubstr("rank 1 on n2")) << why.error;
    EXPECT_THAT(why.output, HasSubstr("job " + job + ": FAILED"));
}

// As reported in pydra 361.
TEST_F(TrainScript, ACrashAtTheStartEndsTheJobWithItsCode) {
    const std::string job =
        script.start({"--data.format", "idx", "--data.train_inputs", "/nowhere", "--run.dir", run.string()});
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 3) << script.log(job);
    EXPECT_THAT(queue(cluster), IsEmpty());
}

// srun ends the other ranks when one has left, so the first to fail must wait until rank 0 has told the mistake.
TEST_F(TrainScript, AMistakeInTheConfigurationIsToldAndEndsTheJobWithItsCode) {
    const std::string job = script.start(small_task(run, {"--train.epochs", "many"}));
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 2) << script.log(job);
    EXPECT_THAT(script.log(job), HasSubstr("'many' is not an integer"));
    EXPECT_THAT(queue(cluster), IsEmpty());
}

// Each job is stopped while its ranks are starting, which takes them very long.
TEST_F(TrainScript, ARunThatNeverGetsOnIsGivenUp) {
    const auto slow =
        dir.write("bin/mastic-train", std::string("#!/bin/sh\ncase \"$1\" in settle | --print-mpi) exec ") +
                                          MASTIC_TRAIN + " \"$@\" ;; esac\necho starting\nexec sleep 1000\n");
    std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
    script.prefer(slow.parent_path());
    const std::string job = script.start(endless_task(run, {"--slurm.max_restarts", "1"}));
    const auto starts_told = [&] {
        const std::string text = script.log(job);
        int count = 0;
        for (auto at = text.find("starting\n"); at != text.npos; at = text.find("starting\n", at + 1)) {
            ++count;
        }
        return count;
    };
    ASSERT_TRUE(wait_until([&] { return starts_told() >= 4; }, Seconds(30))) << script.log(job);
    cluster.output_of({"scancel", "-b", "-s", "USR1", job});
    const std::string next = script.successor_of(job);
    ASSERT_TRUE(wait_until([&] { return starts_told() >= 8; }, Seconds(30))) << script.log(job);
    cluster.output_of({"scancel", "-b", "-s", "USR1", next});
    script.expect_told(job, "is given up");
    ASSERT_TRUE(wait_until([&] { return queue(cluster).empty(); }, Seconds(30)));
    EXPECT_EQ(record_of(run).restarts.size(), 1u);
    EXPECT_THAT(script.log(job), HasSubstr("2 times in a row without a new checkpoint"));
}

// The last task of an array has the array's own id.
TEST_F(TrainScript, TheLastTaskOfAnArrayGoesOnWhileTheOthersRun) {
    const auto sweep =
        dir.write("sweep.txt", "--optimizer.learning_rate 0.1\n--optimizer.learning_rate 0.2\n");
    Arguments arguments = endless_task(run);
    arguments.insert(arguments.begin(), sweep.string());
    const ShippedScript array(
        cluster, std::filesystem::path(TRAIN_SCRIPT).replace_filename("train-array.sbatch"), dir.path());
    const std::string job = array.start(arguments, {"--array=1-2", "-N1", "--chdir=" + dir.path().string()});
    const auto last = dir / "runs" / "sweep" / "2";
    wait_until_training(dir / "runs" / "sweep" / "1");
    wait_until_training(last);
    cluster.output_of({"scancel", "-b", "-s", "USR1", job + "_2"});
    ASSERT_TRUE(wait_until([&] { return record_of(last).restarts.size() == 1; }, Seconds(60)));
    EXPECT_EQ(record_of(last).restarts[0].exit_code, 75);
    EXPECT_EQ(cluster.show(job + "_1")["JobState"], "RUNNING");
}

TEST_F(TrainScript, ACancelledJobSavesAndNothingGoesOn) {
    const std::string job = script.start(endless_task(run));
    wait_until_training(run);
    cluster.output_of({"scancel", job});
    EXPECT_EQ(cluster.wait_end(job), "CANCELLED");
    EXPECT_TRUE(wait_until([&] { return queue(cluster).empty() && processes_of(run).empty(); }, Seconds(30)))
        << script.log(job);
    EXPECT_EQ(record_of(run).attempt.exit_code, 75) << script.log(job);
    expect_valid_checkpoints(run);
}

// As reported in sisyphus 201: the log of the first start is still there after a requeue.
TEST_F(TrainScript, ARequeuedJobGoesOnInTheSameLog) {
    const std::string job = script.start(endless_task(run));
    wait_until_training(run);
    cluster.output_of({"scontrol", "requeue", job});
    cluster.wait_state(job, {"PENDING"});
    EXPECT_EQ(queue(cluster), Arguments{job});
    // Slurm makes it wait for two minutes.
    ASSERT_TRUE(wait_until([&] { return processes_of(run).empty(); }, Seconds(30)));
    const std::int64_t saved = step_of(newest_state(run));
    ASSERT_TRUE(wait_until(
        [&] {
            return cluster.run({"scontrol", "update", "JobId=" + job, "StartTime=now"}).exit_code == 0;
        },
        Seconds(30)));
    cluster.wait_state(job, {"RUNNING"});
    expect_resumed_from(saved);
    EXPECT_THAT(script.log(job), HasSubstr("model mlp"));
    script.expect_told(job, "resumed at step " + std::to_string(saved));
}

struct Preemption {
    const char* partition;
    bool new_job;  // else Slurm requeues the same one
};

class PreemptedTrainScript : public TrainScript, public testing::WithParamInterface<Preemption> {};

TEST_P(PreemptedTrainScript, SavesInItsGraceTimeAndOneJobGoesOn) {
    const std::string job = script.start(endless_task(run), {"-p", GetParam().partition});
    wait_until_training(run);
    const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N4", "--exclusive", "true"});
    EXPECT_EQ(urgent.exit_code, 0) << urgent.error;
    EXPECT_EQ(record_of(run).restarts.empty() ? record_of(run).attempt.exit_code
                                              : record_of(run).restarts[0].exit_code,
              75)
        << script.log(job);
    ASSERT_TRUE(wait_until([&] { return queue(cluster).size() == 1; }, Seconds(30)));
    EXPECT_EQ(queue(cluster).front() != job, GetParam().new_job) << script.log(job);
    expect_valid_checkpoints(run);
}

INSTANTIATE_TEST_SUITE_P(Partitions, PreemptedTrainScript,
                         testing::Values(Preemption{"cancel", true}, Preemption{"requeue", true}),
                         [](const auto& preemption) { return std::string(preemption.param.partition); });

// The grace time's signal goes to the steps that there are, and there is none yet. Whoever preempts must not wait for its end.
TEST_F(TrainScript, APreemptionBeforeTheStepStopsTheFirstOne) {
    script.start_the_step_too_late();
    const Arguments task = endless_task(run, {"--job.margin", "1"});  // or the end of the grace time would be its time limit
    const std::string job = script.start(task, {"-p", "cancel"});
    cluster.wait_state(job, {"RUNNING"});
    const auto begin = std::chrono::steady_clock::now();
    const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N4", "--exclusive", "true"});
    EXPECT_EQ(urgent.exit_code, 0) << urgent.error;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(cancel_grace_s)) << script.log(job);
    ASSERT_TRUE(wait_until([&] { return queue(cluster).size() == 1; }, Seconds(30)));
    EXPECT_NE(queue(cluster).front(), job) << script.log(job);
    EXPECT_THAT(script.log(job), HasSubstr("SIGTERM"));
    expect_valid_checkpoints(run);
}

TEST_F(TrainScript, ANodeThatFailsLeavesARunThatWhyExplains) {
    const std::string job =
        script.start(endless_task(run, {"--checkpoint.every_steps", "100"}), {"--no-requeue"});
    wait_until_training(run);
    cluster.node_down("n3");
    cluster.output_of({"scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=test"});
    EXPECT_EQ(cluster.wait_end(job, Seconds(40)), "NODE_FAIL");
    ASSERT_TRUE(wait_until([&] { return processes_of(run).empty(); }, Seconds(40)));
    EXPECT_THAT(cluster.run({MASTIC_TRAIN, "why", run.string()}).output,
                HasSubstr("a node of the job failed"));
    expect_valid_checkpoints(run);
}

}  // namespace
}  // namespace mastic::test
