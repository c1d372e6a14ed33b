// Bad configuration and bad data: one clear error, the right exit code, nothing written.
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
}

// An IDX file of `count` images of 4 x 4 bytes.
std::string images(std::uint32_t count) {
    std::string file = big_endian(0x00000803) + big_endian(count) + big_endian(4) + big_endian(4);
    for (std::uint32_t i = 0; i < count * 16; ++i) {
        file += static_cast<char>(i * 37 % 251);
    }
    return file;
}

std::string labels(std::uint32_t count) {
    std::string file = big_endian(0x00000801) + big_endian(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        file += static_cast<char>(i % 3);
    }
    return file;
}

class TrainInput : public testing::Test {
  protected:
    TempDir dir;

    Arguments task(const std::string& inputs, const std::string& targets, const Arguments& more = {}) {
        Arguments arguments = {"--data.format",      "auto", "--data.limit",   "0",
                               "--data.input_shape", "4,4",  "--data.classes", "0",
                               "--train.batch_size", "10"};
        arguments.insert(arguments.end(), {"--data.train_inputs", dir.write("inputs", inputs).string(),
                                           "--data.train_targets", dir.write("targets", targets).string()});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return small_task(dir / "run", arguments);
    }

    void expect_failure(const ProgramResult& result, int code, const std::string& part) {
        EXPECT_EQ(result.exit_code, code) << result.text;
        EXPECT_NE(result.text.find(part), std::string::npos) << result.text;
        EXPECT_FALSE(std::filesystem::exists(dir / "run")) << "something was written";
        std::size_t said = 0;
        for (std::size_t at = result.text.find(part); at != std::string::npos;
             at = result.text.find(part, at + 1)) {
            ++said;
        }
        EXPECT_EQ(said, 1u) << "not said once:\n" << result.text;
    }
};

// As reported in horovod 2083.
TEST_F(TrainInput, AnUnevenEndIsTrainedByTwoRanks) {
    const ProgramResult result = run_ranks(2, task(images(101), labels(101), {"--train.epochs", "2"}));
    ASSERT_EQ(result.exit_code, 0) << result.text;
    const auto steps = metrics_of(dir / "run").steps;
    ASSERT_EQ(steps.size(), 22u);
    EXPECT_EQ(steps[9].samples, 100);
    EXPECT_EQ(steps[10].samples, 101);
    EXPECT_EQ(steps.back().samples, 202);
}

// As reported in pytorch 49172.
TEST_F(TrainInput, FewerSamplesThanRanks) {
    expect_failure(run_ranks(4, task(images(3), labels(3))), 3, "3 samples, fewer than the 4 ranks");
}

TEST_F(TrainInput, ABatchSmallerThanTheRanks) {
    Arguments arguments = task(images(30), labels(30));
    arguments.insert(arguments.end(), {"--train.batch_size", "2"});
    expect_failure(run_ranks(3, arguments), 2, "train.batch_size 2");
}

// As reported in EMNIST 1.
TEST_F(TrainInput, AWebPageInsteadOfData) {
    expect_failure(run_ranks(2, task("<!DOCTYPE html><html>not found</html>", labels(10))), 3, "web page");
}

TEST_F(TrainInput, MoreImagesPromisedThanThere) {
    std::string cut = images(50);
    cut.resize(cut.size() - 100);
    expect_failure(run_ranks(2, task(cut, labels(50))), 3, "inputs");
}

TEST_F(TrainInput, OtherNumbersOfImagesAndLabels) {
    const ProgramResult result = run_ranks(2, task(images(20), labels(19)));
    EXPECT_EQ(result.exit_code, 3) << result.text;
    EXPECT_NE(result.text.find("19"), std::string::npos) << result.text;
}

TEST_F(TrainInput, AFileThatIsNotThere) {
    Arguments arguments = task(images(20), labels(20));
    arguments.insert(arguments.end(), {"--data.train_inputs", (dir / "nowhere").string()});
    expect_failure(run_ranks(2, arguments), 3, "nowhere");
}

// As reported in moraine 34.
TEST_F(TrainInput, ABrokenConfiguration) {
    const auto config = dir.write("broken.toml", "[train]\nepochs = 3\nbatch = 4\n").string();
    expect_failure(run_ranks(2, {config, "--run.dir", (dir / "run").string()}), 2, "broken.toml:3:1");
    const auto worse = dir.write("worse.toml", "[train\nepochs = 1.2.3\n").string();
    expect_failure(run_ranks(2, {worse, "--run.dir", (dir / "run").string()}), 2, "worse.toml:1:");
}

TEST_F(TrainInput, AModelThatCannotTakeTheData) {
    expect_failure(run_ranks(2, task(images(20), labels(20), {"--model.name", "transformer"})), 2,
                   "transformer");
}

// As reported in ompi 13523 and spack 11925: srun spoke another PMI than the MPI library, so each task is alone.
TEST_F(TrainInput, SingletonsUnderSrunAreToldTheRightMpi) {
    Arguments argv = {"env",
                      "-u",
                      "PMI_RANK",
                      "SLURM_JOB_ID=1",
                      "SLURM_STEP_ID=0",
                      "SLURM_PROCID=0",
                      "SLURM_NTASKS=2",
                      "SLURM_LOCALID=0",
                      "SLURM_NODEID=0",
                      "SLURM_JOB_NUM_NODES=1",
                      "SLURM_TASKS_PER_NODE=2",
                      MASTIC_TRAIN};
    const Arguments arguments = task(images(30), labels(30));
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const CommandResult result = run_command(argv, Seconds(60));
    expect_failure({result.exit_code, result.output + result.error}, 4, "--mpi=pmi2");
}

TEST_F(TrainInput, ADryRunFindsALossThatDoesNotFit) {
    Arguments arguments = task(images(30), labels(30), {"--train.loss", "mse"});
    arguments.push_back("--dry-run");
    expect_failure(run_ranks(2, arguments), 3, "do not fit");
}

TEST_F(TrainInput, ALabelFarBeyondTheSamples) {
    const std::string data = dir.write("huge.csv", "a,b,label\n1,2,100000000\n1,2,0\n").string();
    expect_failure(run_ranks(1, small_task(dir / "run", {"--data.format", "csv", "--data.limit", "0", "--data.input_shape",
                                                         "2", "--data.classes", "0", "--data.train_inputs", data})),
                   3, "the largest label is 100000000");
}

TEST_F(TrainInput, ADryRunWritesNothing) {
    Arguments arguments = task(images(30), labels(30));
    arguments.push_back("--dry-run");
    const ProgramResult result = run_ranks(2, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.text;
    EXPECT_FALSE(std::filesystem::exists(dir / "run"));
}

}  // namespace
}  // namespace mastic::test
