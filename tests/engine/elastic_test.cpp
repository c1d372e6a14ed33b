// Elastic training by the real program: members join, leave and die; the result is that of a fixed run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <utility>

#include <mastic/core/file.hpp>

#include "engine/train_program.hpp"
#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

constexpr int samples = 64;
constexpr int steps_of_an_epoch = 4;

class Elastic : public testing::Test {
  protected:
    // float64, so that another order of adding makes no difference that shows; a network that takes a while; and all that an update
    // does with a gradient.
    Arguments task(int epochs, const Arguments& more = {}) const {
        Arguments arguments = {"--train.precision", "float64", "--model.hidden", "512,512", "--train.epochs",
                               std::to_string(epochs), "--output.progress", "never", "--optimizer.weight_decay", "0.01",
                               "--train.clip_norm", "0.5"};
        if (std::ranges::find(more, "--optimizer.name") == more.end()) {
            arguments.push_back("--optimizer.nesterov=true");
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    ChildProcess start(int epochs, const Arguments& more = {}) {
        return {member_command(run, task(epochs, more)), dir / ("member-" + std::to_string(++started) + ".txt")};
    }
    std::int64_t step() const {
        const auto file = run / "metrics.jsonl";
        if (!std::filesystem::exists(file)) {
            return 0;
        }
        const auto steps = metrics_of(run).steps;
        return steps.empty() ? 0 : steps.back().step;
    }
    bool passes(std::int64_t more) const {
        const std::int64_t from = step();
        return eventually([&] { return step() >= from + more; });
    }
    // Four classes, known from the first cells, with test data: each epoch is evaluated.
    Arguments evaluated_data(const Arguments& more) const {
        std::string text = "a,b,c,d,label\n";
        for (int i = 0; i < samples; ++i) {
            for (int cell = 0; cell < 4; ++cell) {
                text += std::to_string(cell == i % 4 ? 1.0 + i : 0.5 * i) + ",";
            }
            text += std::to_string(i % 4) + "\n";
        }
        const std::string data = dir.write("samples.csv", text).string();
        Arguments arguments = {"--data.format", "csv", "--data.input_shape", "4", "--data.train_inputs", data, "--data.test_inputs", data};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    void expect_every_step_once(int epochs) const {
        test::expect_every_step_once(run, epochs * steps_of_an_epoch, samples / steps_of_an_epoch);
    }
    void expect_weights_of_a_fixed_run(int epochs, const Arguments& more = {}) const {
        const std::filesystem::path fixed = dir / "fixed";
        train(2, small_task(fixed, task(epochs, more)));
        expect_nearly_identical(newest_state(run), newest_state(fixed));
    }

    TempDir dir;
    std::filesystem::path run = dir / "run";
    int started = 0;
};

TEST_F(Elastic, OneMemberAloneTrainsToTheEnd) {
    ChildProcess only = start(5);
    EXPECT_EQ(only.wait(), 0) << only.output();
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    expect_every_step_once(5);
    expect_weights_of_a_fixed_run(5);
}

TEST_F(Elastic, JoinsLeavesAndDeathsChangeNothingInTheResult) {
    constexpr int epochs = 500;
    ChildProcess first = start(epochs);
    ASSERT_TRUE(passes(20)) << first.output();
    ChildProcess second = start(epochs);
    ChildProcess third = start(epochs);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 3") != std::string::npos; })) << first.output();
    ASSERT_TRUE(passes(20));
    second.kill(SIGTERM);
    EXPECT_EQ(second.wait(), 75) << second.output();
    ASSERT_TRUE(passes(20)) << first.output();
    ChildProcess fourth = start(epochs);
    ASSERT_TRUE(eventually([&] { return fourth.output().find("of 3") != std::string::npos; })) << fourth.output();
    fourth.kill(SIGKILL);
    ASSERT_TRUE(eventually([&] { return third.output().rfind("of 2") > third.output().rfind("of 3"); })) << third.output();
    ASSERT_TRUE(passes(20)) << third.output();
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_EQ(third.wait(), 0) << third.output();
    expect_every_step_once(epochs);
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, TheNextOneLeadsWhenTheLeaderDies) {
    constexpr int epochs = 400;
    ChildProcess first = start(epochs);
    ASSERT_TRUE(passes(20)) << first.output();
    ChildProcess second = start(epochs);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
    first.kill(SIGKILL);
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_THAT(second.output(), HasSubstr("leading the run"));
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    EXPECT_EQ(step_of(newest_state(run)), epochs * steps_of_an_epoch);
    expect_every_step_once(epochs);
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, TheLeaderHandsOverWhenItLeaves) {
    constexpr int epochs = 400;
    const Arguments adamw = {"--optimizer.name", "adamw"};
    ChildProcess first = start(epochs, adamw);
    ASSERT_TRUE(passes(20)) << first.output();
    ChildProcess second = start(epochs, adamw);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
    first.kill(SIGTERM);
    EXPECT_EQ(first.wait(), 75) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    expect_every_step_once(epochs);
    expect_weights_of_a_fixed_run(epochs, adamw);
}

// The lock of the directory is free only when the old leader has ended, in the middle of a generation of the others.
TEST_F(Elastic, OneOfTheOthersLeadsWhenTheLeaderLeavesSeveral) {
    constexpr int epochs = 500;
    const Arguments soon = {"--allreduce.timeout", "20s"};
    ChildProcess first = start(epochs, soon);
    ASSERT_TRUE(passes(20)) << first.output();
    ChildProcess second = start(epochs, soon);
    ChildProcess third = start(epochs, soon);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 3") != std::string::npos; })) << first.output();
    first.kill(SIGTERM);
    EXPECT_EQ(first.wait(), 75) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_EQ(third.wait(), 0) << third.output();
    const std::string told = second.output() + third.output();
    EXPECT_THAT(told, HasSubstr("leading the run"));
    EXPECT_THAT(told, testing::Not(HasSubstr("waiting for")));
    EXPECT_EQ(step_of(newest_state(run)), epochs * steps_of_an_epoch);
    expect_every_step_once(epochs);
}

// Its second half would be missing in the history, and in the choice of the best.
TEST_F(Elastic, ADeathInAnEvaluationLosesNone) {
    constexpr int epochs = 100;
    ChildProcess first = start(epochs, evaluated_data({"--train.inject", "slow@2000"}));
    ASSERT_TRUE(passes(5)) << first.output();
    const std::int64_t fatal = (step() / steps_of_an_epoch + 40) * steps_of_an_epoch;  // some 5 s from now
    ChildProcess second = start(epochs, evaluated_data({"--train.inject", "kill-evaluation@" + std::to_string(fatal) + ":0"}));
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
    EXPECT_EQ(second.wait(), 128 + SIGKILL) << second.output();
    EXPECT_EQ(first.wait(), 0) << first.output();
    std::set<std::int64_t> evaluated;
    for (const report::EvaluationRecord& one : metrics_of(run).evaluations) {
        EXPECT_TRUE(evaluated.insert(one.step).second) << "step " << one.step << " twice";
    }
    EXPECT_EQ(evaluated.size(), static_cast<std::size_t>(epochs));
    EXPECT_EQ(evaluated.count(fatal), 1u);
    expect_every_step_once(epochs);
}

// The others have evaluated the last step and wait for it.
TEST_F(Elastic, ADeathBeforeTheLastCheckpointLosesNothing) {
    constexpr int epochs = 50;
    const std::string last = std::to_string(epochs * steps_of_an_epoch);
    const Arguments slow = evaluated_data({"--train.inject", "slow@2000"});
    ChildProcess first = start(epochs, evaluated_data({"--train.inject", "slow@2000,kill-save@" + last + ":0"}));
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 1") != std::string::npos; })) << first.output();
    ChildProcess second = start(epochs, slow);
    ChildProcess third = start(epochs, slow);
    EXPECT_EQ(first.wait(), 128 + SIGKILL) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_EQ(third.wait(), 0) << third.output();
    EXPECT_EQ(step_of(newest_state(run)), epochs * steps_of_an_epoch);
    EXPECT_EQ(record_of(run).attempt.exit_code, 0) << second.output() << third.output();
    EXPECT_EQ(record_of(run).attempt.last_step, epochs * steps_of_an_epoch);
    EXPECT_FALSE(record_of(run).final_metrics.empty());
    expect_every_step_once(epochs);
}

TEST_F(Elastic, TheLastMemberSavesWhenItIsAskedToStop) {
    ChildProcess only = start(100000);
    ASSERT_TRUE(passes(20)) << only.output();
    only.kill(SIGTERM);
    EXPECT_EQ(only.wait(), 75) << only.output();
    EXPECT_EQ(record_of(run).attempt.exit_code, 75);
    EXPECT_EQ(step_of(newest_state(run)), record_of(run).attempt.last_step);
}

// In the same step as the newcomer becomes a member: that one still lacks this step.
TEST_F(Elastic, WhoIsStoppedWhenANewcomerComesHandsOverToIt) {
    constexpr int epochs = 3;
    const Arguments slow = {"--train.inject", "slow@60000"};  // 1 s a step, so that the newcomer comes within one
    ChildProcess first = start(epochs, slow);
    ASSERT_TRUE(passes(1)) << first.output();
    ChildProcess second = start(epochs, slow);
    ASSERT_TRUE(eventually([&] { return second.output().find("model mlp") != std::string::npos; })) << second.output();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.kill(SIGTERM);
    EXPECT_EQ(first.wait(), 75) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    expect_every_step_once(epochs);
    const std::string written = read_text_file(run / "metrics.jsonl");
    int steps = 0;
    for (auto at = written.find("\"type\":\"step\""); at != written.npos; at = written.find("\"type\":\"step\"", at + 1)) {
        ++steps;
    }
    EXPECT_EQ(steps, epochs * steps_of_an_epoch) << first.output() << second.output();
}

// As when Slurm takes all nodes back in one moment.
TEST_F(Elastic, AllThatAreStoppedAtOnceSave) {
    std::int64_t before = 0;
    for (int repetition = 0; repetition < 4; ++repetition) {
        const int from = started;
        ChildProcess first = start(100000), second = start(100000), third = start(100000);
        const auto all_are_there = [&] {
            return (first.output() + second.output() + third.output()).find("rank 2 of 3") != std::string::npos;
        };
        ASSERT_TRUE(eventually(all_are_there)) << first.output() << second.output() << third.output();
        ASSERT_TRUE(passes(5 * repetition));
        for (ChildProcess* member : {&first, &second, &third}) {
            member->kill(SIGTERM);
        }
        for (ChildProcess* member : {&first, &second, &third}) {
            EXPECT_EQ(member->wait(), 75) << member->output();
        }
        EXPECT_EQ(step_of(newest_state(run)), record_of(run).attempt.last_step) << first.output() << second.output() << third.output();
        EXPECT_GT(step_of(newest_state(run)), before) << "start " << from << " went on";
        before = step_of(newest_state(run));
    }
}

// It is alone, and the directory is still the other one's.
TEST_F(Elastic, WhoIsStoppedBeforeItLeadsSaves) {
    ChildProcess first = start(100000);
    ASSERT_TRUE(passes(10)) << first.output();
    ChildProcess second = start(100000);
    ASSERT_TRUE(eventually([&] { return second.output().find("rank 1 of 2") != std::string::npos; })) << second.output();
    first.kill(SIGTERM);
    ASSERT_TRUE(eventually([&] { return second.output().find("rank 0 of 1") != std::string::npos; })) << second.output();
    second.kill(SIGTERM);
    EXPECT_EQ(first.wait(), 75) << first.output();
    EXPECT_EQ(second.wait(), 75) << second.output();
    EXPECT_EQ(step_of(newest_state(run)), record_of(run).attempt.last_step) << second.output();
    EXPECT_GT(step_of(newest_state(run)), 0);
}

TEST_F(Elastic, ARunThatEndsWhileANewcomerFetchesEndsForBoth) {
    const Arguments slow = {"--train.inject", "slow@100000"};  // 1.6 s a step
    ChildProcess first = start(1, slow);
    ASSERT_TRUE(passes(2)) << first.output();
    ChildProcess second = start(1, slow);
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_EQ(step_of(newest_state(run)), steps_of_an_epoch);
}

TEST_F(Elastic, ANewcomerThatIsStoppedGoesAtOnce) {
    ChildProcess first = start(100000);
    ASSERT_TRUE(passes(10)) << first.output();
    first.kill(SIGSTOP);
    ChildProcess second = start(100000);
    ASSERT_TRUE(eventually([&] { return second.output().find("model mlp") != std::string::npos; })) << second.output();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto told = std::chrono::steady_clock::now();
    second.kill(SIGTERM);
    EXPECT_EQ(second.wait(), 75) << second.output();
    EXPECT_LT(std::chrono::steady_clock::now() - told, std::chrono::seconds(10)) << second.output();
    EXPECT_THAT(second.output(), HasSubstr("SIGTERM before this process had joined the run"));
    first.kill(SIGKILL);
}

TEST_F(Elastic, WhenAllDieTheNextStartResumes) {
    const Arguments saving = {"--checkpoint.every_steps", "20"};
    {
        ChildProcess first = start(100000, saving);
        ASSERT_TRUE(passes(10)) << first.output();
        ChildProcess second = start(100000, saving);
        ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
        ASSERT_TRUE(passes(50));
    }  // both are killed
    const std::int64_t saved = step_of(newest_state(run));
    ASSERT_GT(saved, 0);
    const int epochs = static_cast<int>(saved / steps_of_an_epoch + 5);
    ChildProcess next = start(epochs, saving);
    EXPECT_EQ(next.wait(), 0) << next.output();
    EXPECT_THAT(next.output(), HasSubstr("resumed at step " + std::to_string(saved)));
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, AMemberWithOtherWeightsLeavesWhenTheNextOneComes) {
    constexpr int epochs = 250;
    ChildProcess first = start(epochs, {"--train.inject", "slow@1000"});
    ASSERT_TRUE(passes(20)) << first.output();
    const std::int64_t flip = step() + 500;  // at least 8 s from now: it is a member by then
    ChildProcess second = start(epochs, {"--train.inject", "flip@" + std::to_string(flip) + ":0"});
    ASSERT_TRUE(eventually([&] { return step() > flip + 10; })) << first.output() << second.output();
    ASSERT_THAT(first.output(), HasSubstr("rank 0 of 2"));
    ChildProcess third = start(epochs);  // its source is the youngest member
    EXPECT_EQ(second.wait(), 7) << second.output();
    EXPECT_THAT(second.output(), HasSubstr("this member has other weights than the others after step"));
    EXPECT_EQ(third.wait(), 75) << third.output();
    EXPECT_EQ(first.wait(), 0) << first.output();
    expect_every_step_once(epochs);
}

// Each sample once an epoch although steps get longer and shorter; a replayed step is made at the rate of those that made it.
TEST_F(Elastic, MoreMembersMayTakeMoreSamplesAStep) {
    constexpr int epochs = 800, batch = samples / steps_of_an_epoch;
    const Arguments linear = {"--elastic.scaling", "linear"};
    ChildProcess first = start(epochs, linear);
    ASSERT_TRUE(passes(20)) << first.output();
    ChildProcess second = start(epochs, linear);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
    ChildProcess third = start(epochs, linear);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 3") != std::string::npos; })) << first.output();
    ASSERT_TRUE(passes(20)) << first.output();
    second.kill(SIGKILL);
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_EQ(third.wait(), 0) << third.output();
    const auto steps = metrics_of(run).steps;
    ASSERT_FALSE(steps.empty());
    std::int64_t done = 0;
    std::set<std::int64_t> sizes;
    for (const report::StepRecord& one : steps) {
        const std::int64_t of_step = one.samples - std::exchange(done, one.samples);
        EXPECT_TRUE(of_step == one.global_batch || one.samples % samples == 0) << "step " << one.step << ": " << of_step;
        if (one.learning_rate > 0) {  // else it was got from others
            EXPECT_EQ(one.global_batch, batch * one.world_size) << "step " << one.step;
            EXPECT_NEAR(one.learning_rate, 0.05 * static_cast<double>(one.world_size), 1e-9) << "step " << one.step;
        }
        sizes.insert(one.world_size);
    }
    EXPECT_EQ(done, epochs * samples);
    EXPECT_EQ(sizes, (std::set<std::int64_t>{1, 2, 3}));
}

TEST_F(Elastic, StepsCannotLimitARunWhoseStepsGrow) {
    ChildProcess only = start(5, {"--elastic.scaling", "sqrt", "--train.max_steps", "10"});
    EXPECT_EQ(only.wait(), 2) << only.output();
    EXPECT_THAT(only.output(), HasSubstr("train.epochs"));
}

TEST_F(Elastic, AnotherConfigurationIsRefused) {
    ChildProcess first = start(100000);
    ASSERT_TRUE(passes(10)) << first.output();
    ChildProcess other = start(100000, {"--optimizer.learning_rate", "0.1"});
    EXPECT_EQ(other.wait(), 4) << other.output();
    EXPECT_THAT(other.output(), HasSubstr("optimizer.learning_rate is 0.1 here and 0.05 in the run"));
    EXPECT_TRUE(passes(10)) << "the run is not disturbed";
}

}  // namespace
}  // namespace mastic::test
