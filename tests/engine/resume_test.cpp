// A run that was stopped and resumed against one that was not.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/file.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

Arguments steps(const std::string& count, Arguments more = {}) {
    more.insert(more.end(), {"--train.epochs", "100", "--train.max_steps", count});
    return more;
}

struct Case {
    const char* name;
    int ranks;
    Arguments options;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Resume : public testing::TestWithParam<Case> {};

TEST_P(Resume, IsBitIdenticalToARunThatWasNeverStopped) {
    const TempDir dir;
    const auto& [name, ranks, options] = GetParam();
    train(ranks, small_task(dir / "whole", steps("20", options)));
    // The schedule's end must not depend on where the first half stops.
    train(ranks, small_task(dir / "halves", steps("10", options)));
    train(ranks, small_task(dir / "halves", steps("20", options)));
    expect_identical(newest_state(dir / "whole"), newest_state(dir / "halves"));
    EXPECT_EQ(losses_of(dir / "whole"), losses_of(dir / "halves"));
}

INSTANTIATE_TEST_SUITE_P(
    Training, Resume,
    testing::Values(Case{"OneRank", 1, {}}, Case{"TwoRanks", 2, {}},
                    Case{"DropoutAdamw", 2, {"--model.dropout", "0.3", "--optimizer.name", "adamw",
                                             "--optimizer.learning_rate", "0.01"}},
                    Case{"BatchNormAugmentation", 2,
                         {"--model.name", "resnet18", "--model.width", "4", "--data.input_shape", "3,8,8", "--data.crop",
                          "1", "--data.flip"}},
                    Case{"UnevenEpochs", 3, {"--data.limit", "61"}}),
    [](const auto& test) { return std::string(test.param.name); });

// As reported in transformers 40245 and mmdetection 3800: the samples and the learning rate do not depend on where the rank count changed.
TEST(ResumeElsewhere, GoesOnWithTheSameSamplesAndRatesOnMoreRanks) {
    const TempDir dir;
    const Arguments options = {"--schedule.warmup", "200"};
    train(1, small_task(dir / "one", steps("12", options)));
    train(1, small_task(dir / "grown", steps("5", options)));
    const ProgramResult result = run_ranks(3, small_task(dir / "grown", steps("12", options)));
    ASSERT_EQ(result.exit_code, 0) << result.text;
    EXPECT_NE(result.text.find("going on with 3 ranks"), std::string::npos) << result.text;
    const auto one = metrics_of(dir / "one").steps, grown = metrics_of(dir / "grown").steps;
    ASSERT_EQ(one.size(), grown.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_NEAR(one[i].loss, grown[i].loss, 1e-5 * one[i].loss) << "step " << i + 1;
        EXPECT_EQ(one[i].learning_rate, grown[i].learning_rate) << "step " << i + 1;
        EXPECT_EQ(one[i].samples, grown[i].samples) << "step " << i + 1;
    }
}

TEST(ResumeElsewhere, ChangedOptionsAreToldRefusedOrNeedFork) {
    const TempDir dir;
    train(1, small_task(dir / "run", steps("3")));
    const ProgramResult refused = run_ranks(1, small_task(dir / "run", steps("6", {"--model.hidden", "8"})));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.text.find("model.hidden"), std::string::npos) << refused.text;
    const Arguments other_batch = steps("6", {"--train.batch_size", "8"});
    const ProgramResult forked = run_ranks(1, small_task(dir / "run", other_batch));
    EXPECT_EQ(forked.exit_code, 2);
    EXPECT_NE(forked.text.find("--fork"), std::string::npos) << forked.text;
    Arguments with_fork = other_batch;
    with_fork.push_back("--fork");
    train(1, small_task(dir / "run", with_fork));
    EXPECT_EQ(record_of(dir / "run").attempt.last_step, 6);
}

TEST(ResumeMode, NeverRefusesAndRequireInsists) {
    const TempDir dir;
    const ProgramResult none = run_ranks(1, small_task(dir / "run", steps("3", {"--run.resume", "require"})));
    EXPECT_EQ(none.exit_code, 6) << none.text;
    train(1, small_task(dir / "run", steps("3", {"--run.resume", "never"})));
    const ProgramResult again = run_ranks(1, small_task(dir / "run", steps("3", {"--run.resume", "never"})));
    EXPECT_EQ(again.exit_code, 2) << again.text;
}

TEST(ResumeMode, AFinishedRunIsLeftAlone) {
    const TempDir dir;
    train(2, small_task(dir / "run", steps("4")));
    const checkpoint::State before = newest_state(dir / "run");
    train(2, small_task(dir / "run", steps("4")));
    expect_identical(before, newest_state(dir / "run"));
}

}  // namespace
}  // namespace mastic::test
