#include <gtest/gtest.h>

#include <mastic/comm/segments.hpp>

namespace mastic::comm {
namespace {

TEST(SegmentPlan, CoversEveryElementOnceWithinTheSize) {
    for (const std::size_t count : {0u, 1u, 2u, 999u, 1000u, 1001u, 100'003u}) {
        for (const std::size_t element : {1u, 2u, 4u, 8u}) {
            for (const std::uint64_t segment : {1u, 7u, 8u, 4096u, 1u << 20}) {
                const SegmentPlan plan(count, element, Bytes{segment});
                std::size_t next = 0;
                for (std::size_t i = 0; i < plan.size(); ++i) {
                    EXPECT_EQ(plan[i].offset, next);
                    EXPECT_GT(plan[i].count, 0u);
                    EXPECT_LE(plan[i].count * element, std::max<std::size_t>(segment, element));
                    next += plan[i].count;
                }
                EXPECT_EQ(next, count);
            }
        }
    }
}

TEST(SegmentPlan, IsOneSegmentIfNoSizeIsGivenUnlessAnIntCannotCountTheBytes) {
    EXPECT_EQ(SegmentPlan(12'000'000, 4, Bytes{0}).size(), 1u);
    const std::size_t many = 3'000'000'000;
    for (const auto segment : {Bytes{0}, Bytes{1ull << 40}}) {
        const SegmentPlan plan(many, 4, segment);
        ASSERT_EQ(plan.size(), 6u);
        for (std::size_t i = 0; i < plan.size(); ++i) {
            EXPECT_LE(plan[i].count * 4, 2'147'483'647u);
        }
        EXPECT_EQ(plan[5].offset + plan[5].count, many);
    }
}

}  // namespace
}  // namespace mastic::comm
