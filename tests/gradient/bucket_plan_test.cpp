#include <gtest/gtest.h>

#include <numeric>

#include <mastic/gradient/bucket_plan.hpp>

namespace mastic::gradient {
namespace {

std::vector<ParameterInfo> parameters_of(std::initializer_list<std::size_t> counts) {
    std::vector<ParameterInfo> parameters;
    for (std::size_t count : counts) {
        parameters.push_back({"p" + std::to_string(parameters.size()), count, DataType::float32});
    }
    return parameters;
}

TEST(BucketPlan, PacksInBackwardOrderAndClosesAtCapacity) {
    const auto parameters = parameters_of({16, 16, 16, 16, 16});
    const auto buckets = plan_buckets(parameters, {Bytes{128}, Bytes{64}, 64});
    ASSERT_EQ(buckets.size(), 3u);
    EXPECT_EQ(buckets[0].slots.size(), 1u);
    EXPECT_EQ(buckets[0].slots[0].parameter, 4u);
    EXPECT_EQ(buckets[1].slots.size(), 2u);
    EXPECT_EQ(buckets[1].slots[0].parameter, 3u);
    EXPECT_EQ(buckets[2].slots.size(), 2u);
}

TEST(BucketPlan, EveryParameterHasOneSlotInsideItsBucketAndNoneOverlap) {
    const auto parameters = parameters_of({1, 7, 100000, 3, 64, 0, 65, 1000, 33});
    for (std::size_t capacity : {64u, 4096u, 1u << 20}) {
        std::vector<int> seen(parameters.size());
        for (const Bucket& bucket : plan_buckets(parameters, {Bytes{capacity}, Bytes{capacity / 2}, 64})) {
            std::size_t end = 0;
            for (const BucketSlot& slot : bucket.slots) {
                EXPECT_GE(slot.offset, end);
                EXPECT_EQ(slot.offset * 4 % 64, 0u);
                end = slot.offset + parameters[slot.parameter].count;
                ++seen[slot.parameter];
            }
            EXPECT_LE(end, bucket.count);
        }
        EXPECT_EQ(seen, std::vector<int>(parameters.size(), 1));
    }
}

TEST(BucketPlan, ALargerParameterStandsAlone) {
    const auto buckets = plan_buckets(parameters_of({16, 1000, 16}), {Bytes{256}, Bytes{256}, 64});
    ASSERT_EQ(buckets.size(), 3u);
    EXPECT_EQ(buckets[1].slots.size(), 1u);
    EXPECT_GE(buckets[1].count, 1000u);
}

TEST(BucketPlan, TypesDoNotMix) {
    auto parameters = parameters_of({16, 16, 16});
    parameters[1].type = DataType::float64;
    const auto buckets = plan_buckets(parameters);
    ASSERT_EQ(buckets.size(), 3u);
    EXPECT_EQ(buckets[1].type, DataType::float64);
}

TEST(BucketPlan, NoParametersNoBuckets) { EXPECT_TRUE(plan_buckets({}).empty()); }

}  // namespace
}  // namespace mastic::gradient
