#include <gtest/gtest.h>

#include <atomic>

#include <mastic/data/share_schedule.hpp>
#include <mastic/data/synthetic_dataset.hpp>

namespace mastic::data {
namespace {

constexpr std::uint64_t size = 100, batch = 16;

DistributedSampler sampler() {
    return {size, batch, 5, true};
}

TEST(ShareSchedule, AChangeCountsFromItsStepOn) {
    ShareSchedule schedule({8, 8});
    schedule.change(3, {12, 4});
    EXPECT_EQ(schedule.at(2), (Shares{8, 8}));
    EXPECT_EQ(schedule.at(3), (Shares{12, 4}));
    EXPECT_EQ(schedule.at(1000), (Shares{12, 4}));
}

TEST(ShareSchedule, WhoIsLateHasNothingToDoInTheFirstStep) {
    ShareSchedule schedule({6, 5, 5});
    schedule.leave_out_of_first_step({false, false, true});
    EXPECT_EQ(schedule.at(0), (Shares{6, 5, 0}));
    EXPECT_EQ(schedule.at(1), (Shares{6, 5, 5}));
    ShareSchedule all({8, 8});
    all.leave_out_of_first_step({});
    EXPECT_EQ(all.at(0), (Shares{8, 8}));
}

TEST(ShareSchedule, EverySampleIsUsedOnceInTheOrderOfEqualShares) {
    const auto schedule = std::make_shared<ShareSchedule>(Shares{6, 5, 5});
    schedule->change(2, {13, 2, 1});
    schedule->change(5, {1, 1, 14});
    std::vector<PlanSource> ranks;
    for (int rank = 0; rank < 3; ++rank) {
        ranks.push_back(shared_plans(sampler(), rank, schedule));
    }
    PlanSource alone = endless_plans(sampler(), 0, 1);
    for (int step = 0; step < 14; ++step) {  // two epochs, whose last batches have 4 samples
        std::vector<std::uint64_t> ids;
        StepPlan plan, whole;
        for (const PlanSource& rank : ranks) {
            ASSERT_TRUE(rank(plan));
            if (plan.global_count == batch) {
                EXPECT_EQ(plan.ids.size(), schedule->at(static_cast<std::uint64_t>(
                                               step))[static_cast<std::size_t>(&rank - ranks.data())]);
            }
            ids.insert(ids.end(), plan.ids.begin(), plan.ids.end());
        }
        alone(whole);
        EXPECT_EQ(ids, whole.ids) << "step " << step;
        EXPECT_EQ(plan.after, whole.after);
    }
}

// The promise that a change rests on: the loader asks for no step that is `depth` or more after the last one taken.
TEST(ShareSchedule, TheLoaderPlansNoFurtherAheadThanItsDepth) {
    LoaderOptions options;
    options.depth = 3;
    std::atomic<std::uint64_t> planned{0};
    PlanSource plans = endless_plans(sampler(), 0, 1);
    const auto counted = [&](StepPlan& plan) {
        ++planned;
        return plans(plan);
    };
    SyntheticOptions data;
    data.size = size;
    data.layout.classes = 4;
    BatchLoader loader(make_synthetic_dataset(data), counted, std::nullopt, {}, options);
    for (std::uint64_t taken = 1; taken < 200; ++taken) {
        ASSERT_NE(loader.next(), nullptr);
        ASSERT_LE(planned, taken + options.depth);
    }
}

}  // namespace
}  // namespace mastic::data
