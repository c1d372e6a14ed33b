// slurm/train.sbatch as it is shipped: how jobs end, and whether the right ones go on.
#include <gmock/gmock.h>

#include <cstdlib>
#include <iterator>
#include <sstream>

#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>

#include "cluster/train_job.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = 4, .requeue_grace_s = 20, .cancel_grace_s = 20, .settings = {"KillWait=20"}});

class TrainScript : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }

    // As a user does it who has mastic-train in PATH.
    std::string start(const Arguments& train_arguments, const Arguments& job_options = {},
                      const std::string& script = TRAIN_SCRIPT) {
        Arguments command = {"env", "PATH=" + programs + ":" + std::getenv("PATH"), "sbatch", "--parsable",
                             "--output=" + (dir / "job-%j.log").string()};
        command.insert(command.end(), job_options.begin(), job_options.end());
        command.emplace_back(script);
        command.insert(command.end(), train_arguments.begin(), train_arguments.end());
        const std::string job = cluster.output_of(command);
        return job.substr(0, job.find_first_of(";\n"));
    }

    std::string log(const std::string& job) const {
        const auto file = dir / ("job-" + job + ".log");
        return std::filesystem::exists(file) ? read_text_file(file) : "";
    }

    // The log of a running job is behind what the job has done.
    void expect_told(const std::string& job, const std::string& words) const {
        EXPECT_TRUE(wait_until([&] { return log(job).find(words) != std::string::npos; }, Seconds(30))) << log(job);
    }

    Arguments queue() const {
        std::istringstream lines(cluster.output_of({"squeue", "--noheader", "--format=%i"}));
        return {std::istream_iterator<std::string>(lines), {}};
    }

    // The job that goes on after `job`, which is the only one in the queue then.
    std::string successor_of(const std::string& job) const {
        EXPECT_TRUE(wait_until([&] { return queue().size() == 1 && queue().front() != job; }, Seconds(30)));
        return queue().empty() ? "" : queue().front();
    }

    void expect_resumed_from(std::int64_t step) const {
        EXPECT_TRUE(wait_until([&] { return record_of(run).restarts.size() == 1; }, Seconds(30)));
        EXPECT_EQ(record_of(run).attempt.first_step, step);
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    std::filesystem::path run = dir / "run";
    std::string programs = std::filesystem::path(MASTIC_TRAIN).parent_path();  // before all others in PATH
};

TEST_F(TrainScript, TrainsOnFourNodesToTheEnd) {
    const std::string job = start(small_task(run));
    EXPECT_EQ(cluster.wait_end(job), "COMPLETED") << log(job);
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    EXPECT_EQ(record_of(run).attempt.world_size, 4);
    EXPECT_THAT(queue(), IsEmpty());
}

// As reported in Lightning 6626 and WarpX 4665: the signal reaches only the shell.
TEST_F(TrainScript, ASignalToTheShellSavesOnAllRanksAndOneJobGoesOn) {
    const std::string job = start(endless_task(run));
    wait_until_training(run);
    cluster.output_of({"scancel", "-b", "-s", "USR1", job});
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 75) << log(job);
    const std::string next = successor_of(job);
    EXPECT_THAT(log(job), HasSubstr("job " + next + " goes on"));
    expect_resumed_from(step_of(newest_state(run)));
    expect_valid_checkpoints(run);
}

// As reported in torchrec 189 and lbann 905.
TEST_F(TrainScript, AKilledRankEndsTheJobWhichNamesIt) {
    const std::string job = start(endless_task(run, {"--checkpoint.every_steps", "100"}));
    wait_until_training(run);
    ASSERT_EQ(cluster.run_on("n2", {"pkill", "-KILL", "-x", "mastic-train"}).exit_code, 0);
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 7);
    EXPECT_EQ(record_of(run).attempt.exit_code, 7);
    EXPECT_THAT(record_of(run).attempt.reason, HasSubstr("rank 1 on n2"));
    EXPECT_THAT(queue(), IsEmpty());
    const CommandResult why = cluster.run({MASTIC_TRAIN, "why", run.string()});
    EXPECT_THAT(why.output, HasSubstr("rank 1 on n2")) << why.error;
    EXPECT_THAT(why.output, HasSubstr("job " + job + ": FAILED"));
}

// As reported in pydra 361.
TEST_F(TrainScript, ACrashAtTheStartEndsTheJobWithItsCode) {
    const std::string job = start({"--data.format", "idx", "--data.train_inputs", "/nowhere", "--run.dir", run.string()});
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 3) << log(job);
    EXPECT_THAT(queue(), IsEmpty());
}

// srun ends the other ranks when one has left, so the first to fail must wait until rank 0 has told the mistake.
TEST_F(TrainScript, AMistakeInTheConfigurationIsToldAndEndsTheJobWithItsCode) {
    const std::string job = start(small_task(run, {"--train.epochs", "many"}));
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 2) << log(job);
    EXPECT_THAT(log(job), HasSubstr("'many' is not an integer"));
    EXPECT_THAT(queue(), IsEmpty());
}

// Each job is stopped while its ranks are starting, which takes them very long.
TEST_F(TrainScript, ARunThatNeverGetsOnIsGivenUp) {
    const auto slow = dir.write("bin/mastic-train", std::string("#!/bin/sh\ncase \"$1\" in settle | --print-mpi) exec ") +
                                                        MASTIC_TRAIN + " \"$@\" ;; esac\necho starting\nexec sleep 1000\n");
    std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
    programs = slow.parent_path();
    const std::string job = start(endless_task(run, {"--slurm.max_restarts", "1"}));
    const auto starts_told = [&] {
        const std::string text = log(job);
        int count = 0;
        for (auto at = text.find("starting\n"); at != text.npos; at = text.find("starting\n", at + 1)) {
            ++count;
        }
        return count;
    };
    ASSERT_TRUE(wait_until([&] { return starts_told() >= 4; }, Seconds(30))) << log(job);
    cluster.output_of({"scancel", "-b", "-s", "USR1", job});
    const std::string next = successor_of(job);
    ASSERT_TRUE(wait_until([&] { return starts_told() >= 8; }, Seconds(30))) << log(job);
    cluster.output_of({"scancel", "-b", "-s", "USR1", next});
    expect_told(job, "is given up");
    ASSERT_TRUE(wait_until([&] { return queue().empty(); }, Seconds(30)));
    EXPECT_EQ(record_of(run).restarts.size(), 1u);
    EXPECT_THAT(log(job), HasSubstr("2 times in a row without a new checkpoint"));
}

// The last task of an array has the array's own id.
TEST_F(TrainScript, TheLastTaskOfAnArrayGoesOnWhileTheOthersRun) {
    const auto sweep = dir.write("sweep.txt", "--optimizer.learning_rate 0.1\n--optimizer.learning_rate 0.2\n");
    Arguments arguments = endless_task(run);
    arguments.insert(arguments.begin(), sweep.string());
    const std::string job = start(arguments, {"--array=1-2", "-N1", "--chdir=" + dir.path().string()},
                                  std::filesystem::path(TRAIN_SCRIPT).replace_filename("train-array.sbatch"));
    const auto last = dir / "runs" / "sweep" / "2";
    wait_until_training(dir / "runs" / "sweep" / "1");
    wait_until_training(last);
    cluster.output_of({"scancel", "-b", "-s", "USR1", job + "_2"});
    ASSERT_TRUE(wait_until([&] { return record_of(last).restarts.size() == 1; }, Seconds(60)));
    EXPECT_EQ(record_of(last).restarts[0].exit_code, 75);
    EXPECT_EQ(cluster.show(job + "_1")["JobState"], "RUNNING");
}

TEST_F(TrainScript, ACancelledJobSavesAndNothingGoesOn) {
    const std::string job = start(endless_task(run));
    wait_until_training(run);
    cluster.output_of({"scancel", job});
    EXPECT_EQ(cluster.wait_end(job), "CANCELLED");
    EXPECT_TRUE(wait_until([&] { return queue().empty() && processes_of(run).empty(); }, Seconds(30))) << log(job);
    EXPECT_EQ(record_of(run).attempt.exit_code, 75) << log(job);
    expect_valid_checkpoints(run);
}

// As reported in sisyphus 201: the log of the first start is still there after a requeue.
TEST_F(TrainScript, ARequeuedJobGoesOnInTheSameLog) {
    const std::string job = start(endless_task(run));
    wait_until_training(run);
    cluster.output_of({"scontrol", "requeue", job});
    cluster.wait_state(job, {"PENDING"});
    EXPECT_EQ(queue(), Arguments{job});
    // Slurm makes it wait for two minutes.
    ASSERT_TRUE(wait_until([&] { return processes_of(run).empty(); }, Seconds(30)));
    const std::int64_t saved = step_of(newest_state(run));
    ASSERT_TRUE(wait_until(
        [&] { return cluster.run({"scontrol", "update", "JobId=" + job, "StartTime=now"}).exit_code == 0; }, Seconds(30)));
    cluster.wait_state(job, {"RUNNING"});
    expect_resumed_from(saved);
    EXPECT_THAT(log(job), HasSubstr("model mlp"));
    expect_told(job, "resumed at step " + std::to_string(saved));
}

struct Preemption {
    const char* partition;
    bool new_job;  // else Slurm requeues the same one
};

class PreemptedTrainScript : public TrainScript, public testing::WithParamInterface<Preemption> {};

TEST_P(PreemptedTrainScript, SavesInItsGraceTimeAndOneJobGoesOn) {
    const std::string job = start(endless_task(run), {"-p", GetParam().partition});
    wait_until_training(run);
    const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N4", "--exclusive", "true"});
    EXPECT_EQ(urgent.exit_code, 0) << urgent.error;
    EXPECT_EQ(record_of(run).restarts.empty() ? record_of(run).attempt.exit_code : record_of(run).restarts[0].exit_code, 75)
        << log(job);
    ASSERT_TRUE(wait_until([&] { return queue().size() == 1; }, Seconds(30)));
    EXPECT_EQ(queue().front() != job, GetParam().new_job) << log(job);
    expect_valid_checkpoints(run);
}

INSTANTIATE_TEST_SUITE_P(Partitions, PreemptedTrainScript,
                         testing::Values(Preemption{"cancel", true}, Preemption{"requeue", true}),
                         [](const auto& preemption) { return std::string(preemption.param.partition); });

TEST_F(TrainScript, ANodeThatFailsLeavesARunThatWhyExplains) {
    const std::string job = start(endless_task(run, {"--checkpoint.every_steps", "100"}), {"--no-requeue"});
    wait_until_training(run);
    cluster.node_down("n3");
    cluster.output_of({"scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=test"});
    EXPECT_EQ(cluster.wait_end(job, Seconds(40)), "NODE_FAIL");
    ASSERT_TRUE(wait_until([&] { return processes_of(run).empty(); }, Seconds(40)));
    EXPECT_THAT(cluster.run({MASTIC_TRAIN, "why", run.string()}).output, HasSubstr("a node of the job failed"));
    expect_valid_checkpoints(run);
}

}  // namespace
}  // namespace mastic::test
