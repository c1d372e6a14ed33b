// mastic-train as a step of a Slurm job: how it starts, how it is told to stop, and how it stops in time.
#include <gmock/gmock.h>

#include <mastic/job/run_directory.hpp>

#include "cluster/train_job.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

ClusterEnvironment* const environment = ClusterEnvironment::add({.nodes = 4, .settings = {"KillWait=30"}});

class TrainStep : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }

    std::string start(const Arguments& srun_options, const Arguments& train_arguments,
                      const Arguments& job_options) {
        return cluster.submit(batch_script(train_step(srun_options, train_arguments)), job_options);
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    std::filesystem::path run = dir / "run";
};

// As reported in ompi 13523 and spack 11925: MPICH does not speak PMIx to Slurm, so each task is a world of its own.
TEST_F(TrainStep, AnotherPmiIsRefusedAndTheRightOneNamed) {
    Arguments step = {"srun", "-n2", "--mpi=pmix", MASTIC_TRAIN, "--dry-run"};
    const Arguments task = small_task(run);
    step.insert(step.end(), task.begin(), task.end());
    const CommandResult result = cluster.run(step);
    EXPECT_EQ(result.exit_code, 4) << result.error;
    EXPECT_THAT(result.output + result.error, HasSubstr("srun --mpi=pmi2"));
    EXPECT_FALSE(std::filesystem::exists(run));
}

struct Shape {
    const char* name;
    Arguments options;
    int ranks;
};

class TrainShape : public TrainStep, public testing::WithParamInterface<Shape> {};

TEST_P(TrainShape, TrainsToTheEnd) {
    const CommandResult result =
        cluster.run(train_step(GetParam().options, small_task(run, {"--allreduce.timeout", "10s"})));
    ASSERT_EQ(result.exit_code, 0) << result.output << result.error;
    const report::RunRecord record = record_of(run);
    EXPECT_EQ(record.attempt.exit_code, 0);
    EXPECT_EQ(record.attempt.world_size, GetParam().ranks);
    EXPECT_EQ(step_of(newest_state(run)), 4);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TrainShape,
                         testing::Values(Shape{"OneRankOnEachOfFourNodes", {"-N4"}, 4},
                                         Shape{"TwoRanksOnEachOfTwoNodes", {"-N2", "--ntasks-per-node=2"}, 4},
                                         Shape{"ThreeRanksOnOneNodeAndOneOnAnother", {"-N2", "-n4"}, 4},
                                         Shape{"TwoRanksOnOneOfThreeNodes", {"-N3", "-n4"}, 4}),
                         [](const auto& shape) { return shape.param.name; });

class TrainStepSignal : public TrainStep, public testing::WithParamInterface<const char*> {};

// As reported in Lightning 6626 and WarpX 4665: Slurm's signal reaches all ranks; all save at one step.
TEST_P(TrainStepSignal, SavesAndAsksForARequeue) {
    const std::string job = start({}, endless_task(run), {"-N3"});
    wait_until_training(run);
    cluster.output_of({"scancel", "-s", GetParam(), job + ".0"});
    EXPECT_EQ(cluster.wait_end(job, Seconds(20)), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 75) << cluster.output(job);
    const report::RunRecord record = record_of(run);
    EXPECT_EQ(record.attempt.exit_code, 75);
    EXPECT_EQ(record.attempt.reason, std::string("SIG") + GetParam());
    EXPECT_EQ(record.attempt.job_id, job);
    EXPECT_EQ(step_of(newest_state(run)), record.attempt.last_step);
    expect_valid_checkpoints(run);
}

INSTANTIATE_TEST_SUITE_P(Signals, TrainStepSignal, testing::Values("USR1", "TERM"),
                         [](const auto& signal) { return std::string(signal.param); });

// As reported in cp2k 4399: no --signal, only the job's own limit. One minute is the shortest that Slurm has; the
// margin makes it a wait of seconds.
TEST_F(TrainStep, StopsBeforeTheTimeLimitOfTheJob) {
    const std::string job = start({}, endless_task(run, {"--job.margin", "42s"}), {"-N2", "-t", "1"});
    EXPECT_EQ(cluster.wait_end(job, Seconds(60)), "FAILED");  // not TIMEOUT
    EXPECT_EQ(cluster.exit_code(job), 75) << cluster.output(job);
    EXPECT_EQ(record_of(run).attempt.reason, "time limit");
    EXPECT_EQ(step_of(newest_state(run)), record_of(run).attempt.last_step);
}

// As reported in sisyphus 201.
TEST_F(TrainStep, ASecondJobInTheSameDirectoryIsRefusedNamingTheOwner) {
    const std::string owner = start({}, endless_task(run), {"-N2"});
    wait_until_training(run);
    const std::string second = start({}, endless_task(run), {"-N2"});
    EXPECT_EQ(cluster.wait_end(second), "FAILED");
    EXPECT_EQ(cluster.exit_code(second), 5) << cluster.output(second);
    EXPECT_THAT(cluster.output(second), HasSubstr("in use by job " + owner));
    EXPECT_EQ(cluster.show(owner)["JobState"], "RUNNING");
}

}  // namespace
}  // namespace mastic::test
