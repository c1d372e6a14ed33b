// N ranks against one process at the same global batch: the same losses up to rounding, step by step.
#include <gtest/gtest.h>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

struct Case {
    const char* name;
    Arguments options;
    double tolerance;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class RankCount : public testing::TestWithParam<Case> {};

TEST_P(RankCount, DoesNotChangeTheLossesOfTwentySteps) {
    const TempDir dir;
    Arguments options = GetParam().options;
    options.insert(options.end(), {"--train.epochs", "5", "--train.max_steps", "20"});
    train(1, small_task(dir / "serial", options));
    const std::vector<double> serial = losses_of(dir / "serial");
    ASSERT_EQ(serial.size(), 20u);
    EXPECT_LT(serial.back(), serial.front());
    for (const int ranks : {2, 3, 4}) {
        const auto run_dir = dir / std::to_string(ranks);
        train(ranks, small_task(run_dir, options));
        const std::vector<double> losses = losses_of(run_dir);
        ASSERT_EQ(losses.size(), serial.size());
        for (std::size_t i = 0; i < serial.size(); ++i) {
            EXPECT_NEAR(losses[i], serial[i], GetParam().tolerance)
                << ranks << " ranks, step " << i + 1;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Training, RankCount,
    testing::Values(Case{"Sgd", {}, 1e-5},
                    // 61 samples: the last batch of an epoch has 13, shares differ, and with 4 ranks some have 3.
                    Case{"UnevenData", {"--data.limit", "61"}, 1e-5},
                    // 49 samples: the last batch has one, so the other ranks have none.
                    Case{"RanksWithoutSamples", {"--data.limit", "49"}, 1e-5},
                    Case{"MicroBatches", {"--train.micro_batch", "3"}, 1e-5},
                    Case{"PlainAllreduce", {"--allreduce.algorithm", "native-blocking"}, 1e-5},
                    Case{"NativePipelined", {"--allreduce.algorithm", "native-pipelined"}, 1e-5},
                    Case{"Tcp", {"--allreduce.transport", "tcp"}, 1e-5},
                    Case{"MpiMessages", {"--allreduce.transport", "mpi"}, 1e-5},
                    Case{"SmallBuckets",
                         {"--allreduce.bucket", "1K", "--allreduce.first_bucket", "64", "--allreduce.segment", "100"},
                         1e-5},
                    Case{"AdamwFloat64", {"--optimizer.name", "adamw", "--train.precision", "float64",
                                          "--optimizer.learning_rate", "0.01"}, 1e-10},
                    Case{"Regression", {"--data.task", "regress", "--data.classes", "0"}, 1e-5}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace mastic::test
