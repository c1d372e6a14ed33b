#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/layout_search.hpp>

#include "support/expect_error.hpp"

namespace mastic::colocation {
namespace {

using testing::HasSubstr;

// Throughput by ranks; memory grows by `each` a rank, in a device of 100.
struct Curve {
    std::map<int, double> samples_per_s;
    std::uint64_t each = 1;
    std::vector<int> asked = {};

    Trial operator()(int ranks) {
        asked.push_back(ranks);
        Trial trial{ranks, 0, {10}, {10 + each * static_cast<std::uint64_t>(ranks)}, {100}, ""};
        const auto found = samples_per_s.find(ranks);
        found != samples_per_s.end() ? void(trial.samples_per_s = found->second)
                                     : void(trial.problem = "out of memory");
        return trial;
    }
};

LayoutChoice choose(Curve& curve, const SearchRules& rules = {}) {
    return choose_layout(rules, std::ref(curve));
}

TEST(LayoutSearch, StopsWhereADoublingNoLongerPays) {
    Curve curve{{{1, 100}, {2, 150}, {4, 153}, {8, 400}}};
    const LayoutChoice choice = choose(curve);
    EXPECT_EQ(choice.ranks_per_device, 4) << "a small gain is still one";
    EXPECT_EQ(choice.samples_per_s, 153);
    EXPECT_THAT(curve.asked, testing::ElementsAre(1, 2, 4));
    EXPECT_THAT(choice.end, HasSubstr("4 ranks gain 2.0 %"));
}

TEST(LayoutSearch, KeepsOneRankWhereSharingLoses) {
    Curve curve{{{1, 100}, {2, 90}}};
    const LayoutChoice choice = choose(curve);
    EXPECT_EQ(choice.ranks_per_device, 1);
    EXPECT_THAT(choice.end, HasSubstr("2 ranks lose 10.0 %"));
    EXPECT_EQ(choice.trials.size(), 2u);
}

TEST(LayoutSearch, GoesToTheEndOfItsRange) {
    Curve curve{{{1, 1}, {2, 2}, {4, 4}, {8, 8}}};
    EXPECT_EQ(choose(curve).ranks_per_device, 8);
    EXPECT_EQ(choose(curve, {2}).ranks_per_device, 2);
    EXPECT_EQ(choose(curve, {3}).ranks_per_device, 2);
}

TEST(LayoutSearch, StopsBeforeMemoryIsFull) {
    Curve curve{{{1, 1}, {2, 2}, {4, 4}, {8, 8}}, 15};
    const LayoutChoice choice = choose(curve);  // 10 + 8 x 15 > 90
    EXPECT_EQ(choice.ranks_per_device, 4);
    EXPECT_THAT(choice.end, HasSubstr("8 ranks would need more memory than 90.0 %"));
    EXPECT_THAT(curve.asked, testing::ElementsAre(1, 2, 4));
}

TEST(LayoutSearch, EndsWithATrialThatFails) {
    Curve curve{{{1, 1}, {2, 2}}};
    const LayoutChoice choice = choose(curve);
    EXPECT_EQ(choice.ranks_per_device, 2);
    EXPECT_THAT(choice.end, HasSubstr("4 ranks: out of memory"));
    Curve broken;
    test::expect_error(ExitCode::environment, "the trial with 1 rank on each device failed: out of memory",
                       [&] { choose(broken); });
}

}  // namespace
}  // namespace mastic::colocation
