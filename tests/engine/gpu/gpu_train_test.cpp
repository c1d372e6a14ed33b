// The trainer on a GPU, or on a device that only has memory of its own (fake_cuda.hpp). What comes out is what the cores give.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>

#include "engine/train_program.hpp"
#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

constexpr bool needs_a_gpu = GPU_IS_REAL;

class OnAGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (needs_a_gpu && run_command({"nvidia-smi", "-L"}, Seconds(20)).exit_code != 0) {
            GTEST_SKIP() << "there is no GPU here";
        }
    }
    ProgramResult run_on_gpu(int ranks, Arguments arguments) const {
        arguments.insert(arguments.end(), {"--train.device", "cuda"});
        return run_ranks_of(GPU_TRAINER, ranks, arguments);
    }
    void train_on_gpu(int ranks, const Arguments& arguments) const {
        const ProgramResult result = run_on_gpu(ranks, arguments);
        ASSERT_EQ(result.exit_code, 0) << result.text;
        EXPECT_THAT(result.text, HasSubstr("GPU 0: "));
    }
    static void expect_same_losses(const std::vector<double>& one, const std::vector<double>& other, double tolerance) {
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            EXPECT_NEAR(one[i], other[i], tolerance) << "step " << i + 1;
        }
    }

    TempDir dir;
    const Arguments precise = {"--train.precision", "float64", "--train.epochs", "5", "--train.clip_norm", "0.5",
                               "--optimizer.weight_decay", "0.01"};
};

TEST_F(OnAGpu, TrainsAsTheCoresDo) {
    for (const int ranks : {1, 2}) {
        const auto on_gpu = dir / ("gpu" + std::to_string(ranks)), on_cores = dir / ("cores" + std::to_string(ranks));
        train_on_gpu(ranks, small_task(on_gpu, precise));
        train(ranks, small_task(on_cores, precise));
        expect_nearly_identical(newest_state(on_gpu), newest_state(on_cores));
        expect_same_losses(losses_of(on_gpu), losses_of(on_cores), 1e-9);
        expect_every_step_once(on_gpu, 20, 16);
    }
}

TEST_F(OnAGpu, TrainsWithConvolutionsAndStatisticsOfBatches) {
    const Arguments task = {"--model.name", "resnet18", "--model.width", "8", "--data.input_shape", "3,32,32", "--train.batch_size", "8",
                            "--train.max_steps", "3", "--optimizer.name", "adamw", "--train.micro_batch", "2"};
    train_on_gpu(2, small_task(dir / "gpu", task));
    train(2, small_task(dir / "cores", task));
    expect_same_losses(losses_of(dir / "gpu"), losses_of(dir / "cores"), needs_a_gpu ? 2e-2 : 1e-3);  // TensorFloat-32
}

TEST_F(OnAGpu, TrainsOnTokens) {
    dir.write("text.txt", std::string(4000, 'a') + std::string(4000, 'b'));
    const Arguments task = {"--model.name", "transformer", "--model.width", "16", "--model.depth", "1", "--model.heads", "2",
                            "--data.format", "bytes", "--data.task", "next-token", "--data.train_inputs", (dir / "text.txt").string(), "--data.sequence_length", "16",
                            "--data.limit", "0", "--data.classes", "256", "--train.max_steps", "3"};
    train_on_gpu(2, small_task(dir / "gpu", task));
    train(2, small_task(dir / "cores", task));
    expect_same_losses(losses_of(dir / "gpu"), losses_of(dir / "cores"), 1e-4);
}

TEST_F(OnAGpu, CheckpointsGoFromOneToTheOther) {
    Arguments halfway = precise;
    halfway.insert(halfway.end(), {"--train.max_steps", "10", "--optimizer.name", "adamw"});
    Arguments whole = precise;
    whole.insert(whole.end(), {"--optimizer.name", "adamw"});
    train_on_gpu(2, small_task(dir / "first", halfway));
    train(2, small_task(dir / "first", whole));
    train(2, small_task(dir / "second", halfway));
    train_on_gpu(2, small_task(dir / "second", whole));
    train(2, small_task(dir / "cores", whole));
    expect_nearly_identical(newest_state(dir / "first"), newest_state(dir / "cores"));
    expect_nearly_identical(newest_state(dir / "second"), newest_state(dir / "cores"));
}

TEST_F(OnAGpu, EvaluatesAndPredicts) {
    std::string text = "a,b,c,d,label\n";
    for (int i = 0; i < 64; ++i) {
        for (int cell = 0; cell < 4; ++cell) {
            text += std::to_string(cell == i % 4 ? 1.0 + i : 0.5 * i) + ",";
        }
        text += std::to_string(i % 4) + "\n";
    }
    const std::string data = dir.write("samples.csv", text).string();
    const std::string run = (dir / "run").string();
    train_on_gpu(2, small_task(run, {"--data.format", "csv", "--data.input_shape", "4", "--data.train_inputs", data,
                                     "--data.test_inputs", data, "--train.epochs", "3"}));
    const auto metrics = metrics_of(run);
    ASSERT_EQ(metrics.evaluations.size(), 3U);
    const ProgramResult evaluation = run_on_gpu(1, {"evaluate", run});
    EXPECT_EQ(evaluation.exit_code, 0) << evaluation.text;
    const ProgramResult on_cores = run_program({"evaluate", run, "--train.device", "cpu"});
    const std::string accuracy = on_cores.text.substr(on_cores.text.find("accuracy"));
    EXPECT_THAT(evaluation.text, HasSubstr(accuracy.substr(0, accuracy.find('\n'))));
    dir.write("inputs.csv", "a,b,c,d\n1,2,3,4\n4,3,2,1\n");
    const ProgramResult predicted = run_on_gpu(1, {"predict", run, (dir / "inputs.csv").string(), (dir / "gpu.csv").string()});
    EXPECT_EQ(predicted.exit_code, 0) << predicted.text;
    run_program({"predict", run, (dir / "inputs.csv").string(), (dir / "cores.csv").string(), "--train.device", "cpu"});
    const std::string outputs = read_text_file(dir / "gpu.csv");
    EXPECT_EQ(std::ranges::count(outputs, '\n'), 3) << outputs;
    if (!needs_a_gpu) {
        EXPECT_EQ(outputs, read_text_file(dir / "cores.csv"));
    }
}

TEST_F(OnAGpu, MembersOfAnElasticRunComeAndGo) {
    const std::filesystem::path run = dir / "run";
    Arguments more = precise;
    *(std::ranges::find(more, "--train.epochs") + 1) = "200";
    more.insert(more.end(), {"--model.hidden", "256,256", "--output.progress", "never", "--train.device", "cuda"});
    const auto start = [&](const std::string& name) {
        Arguments command = member_command(run, more);
        command.front() = GPU_TRAINER;
        return ChildProcess(command, dir / name);
    };
    ChildProcess first = start("first.txt");
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 1") != std::string::npos; })) << first.output();
    Arguments on_cores = member_command(run, more);
    *(std::ranges::find(on_cores, "cuda")) = "cpu";
    const CommandResult refused = run_command(on_cores, Seconds(60));
    EXPECT_EQ(refused.exit_code, 4);
    EXPECT_THAT(refused.error + refused.output, HasSubstr("train.device is \"cpu\" here and \"cuda\" in the run"));
    ChildProcess second = start("second.txt");
    EXPECT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output() << second.output();
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    expect_every_step_once(run, 800, 16);
    Arguments fixed = more;
    *(std::ranges::find(fixed, "--train.device") + 1) = "cpu";
    train(2, small_task(dir / "fixed", fixed));
    expect_nearly_identical(newest_state(run), newest_state(dir / "fixed"));
}

TEST_F(OnAGpu, AClassThatIsNoneIsNamed) {
    dir.write("samples.csv", "a,b,label\n1,2,0\n2,3,1\n3,4,7\n4,5,1\n");
    const ProgramResult result =
        run_on_gpu(1, small_task(dir / "run", {"--data.format", "csv", "--data.input_shape", "2", "--data.classes", "2",
                                               "--data.train_inputs", (dir / "samples.csv").string(), "--train.batch_size", "4"}));
    EXPECT_EQ(result.exit_code, 3) << result.text;
}

}  // namespace
}  // namespace mastic::test
