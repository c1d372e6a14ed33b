// Shares of the batch that follow the speed of each rank: the same training, in less time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/train_program.hpp"
#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

constexpr int epochs = 30, steps = 120, batch = 16, steps_of_an_epoch = 4;

Arguments balanced(Arguments more = {}, int of_epochs = epochs) {
    more.insert(more.end(), {"--train.balance", "dlb", "--train.precision", "float64", "--train.epochs", std::to_string(of_epochs)});
    return more;
}

// The shares after the last change, as told in metrics.jsonl.
std::string last_shares(const std::filesystem::path& run) {
    std::string text;
    for (const report::EventRecord& event : metrics_of(run).events) {
        text = event.kind == "balance" ? event.text : text;
    }
    return text;
}

TEST(Balance, ARankThatIsSlowGetsLess) {
    const TempDir dir;
    train(2, small_task(dir / "equal", {"--train.precision", "float64", "--train.epochs", std::to_string(epochs)}));
    // Next to 4 ms a sample the network takes no time: rank 1 keeps the one sample that shows how fast it is.
    train(2, small_task(dir / "balanced", balanced({"--train.inject", "slow@4000:1"})));
    EXPECT_EQ(last_shares(dir / "balanced"), "shares of the batch: 15, 1");
    expect_every_step_once(dir / "balanced", steps, batch);
    const auto equal = losses_of(dir / "equal"), uneven = losses_of(dir / "balanced");
    ASSERT_EQ(equal.size(), uneven.size());
    for (std::size_t step = 0; step < equal.size(); ++step) {
        ASSERT_NEAR(equal[step], uneven[step], 1e-9) << "step " << step + 1;
    }
}

TEST(Balance, RanksOfOneSpeedKeepEqualShares) {
    const TempDir dir;
    train(2, small_task(dir / "run", balanced({"--train.inject", "slow@10000", "--train.max_steps", "40"})));
    EXPECT_EQ(last_shares(dir / "run"), "");
}

TEST(Balance, OneRankAndFewSamplesChangeNothing) {
    const TempDir dir;
    train(1, small_task(dir / "one", balanced()));
    train(2, small_task(dir / "few", balanced({"--train.batch_size", "2", "--data.limit", "8"})));
    EXPECT_EQ(last_shares(dir / "one") + last_shares(dir / "few"), "");
}

class BalancedMembers : public testing::Test {
  protected:
    static constexpr int enough_epochs = 45;  // 23 s for one of 8 ms a sample

    ChildProcess start(const std::string& name, const std::string& slowness) const {
        const Arguments more = balanced({"--train.inject", slowness, "--output.progress", "never"}, enough_epochs);
        return ChildProcess(member_command(run, more), dir / name);
    }
    // Until the speed of the first one is known.
    bool has_trained(const ChildProcess& first) const {
        const auto file = run / "metrics.jsonl";
        return eventually([&] {
            return std::filesystem::exists(file) && metrics_of(run).steps.size() > 20;
        }) || first.output().empty();
    }

    const TempDir dir;
    const std::filesystem::path run = dir / "run";
};

TEST_F(BalancedMembers, HaveTheirSharesFromTheirFirstStepOn) {
    ChildProcess first = start("first.txt", "slow@8000");
    ASSERT_TRUE(has_trained(first)) << first.output();
    ChildProcess second = start("second.txt", "slow@24000");
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    expect_every_step_once(run, enough_epochs * steps_of_an_epoch, batch);
    EXPECT_EQ(last_shares(run), "shares of the batch: 12, 4") << first.output();
}

TEST_F(BalancedMembers, DoNotLetInWhoWouldHoldThemUp) {
    ChildProcess first = start("first.txt", "slow@8000");
    ASSERT_TRUE(has_trained(first)) << first.output();
    ChildProcess second = start("second.txt", "slow@150000");
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_THAT(second.output(), testing::HasSubstr("the run does not need this process: a step of 16 samples computes for"));
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_THAT(first.output(), testing::Not(testing::HasSubstr("of 2")));
    expect_every_step_once(run, enough_epochs * steps_of_an_epoch, batch);
}

}  // namespace
}  // namespace mastic::test
