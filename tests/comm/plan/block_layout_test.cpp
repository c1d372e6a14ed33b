#include <gtest/gtest.h>

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm {
namespace {

TEST(BlockLayout, CutsWithoutGapsAndAligned) {
    for (const std::size_t count : {0, 1, 5, 16, 63, 64, 65, 1000, 4096, 100003}) {
        for (int blocks = 1; blocks <= 34; ++blocks) {
            for (const std::size_t alignment : {1, 64}) {
                const BlockLayout layout(count, blocks, alignment);
                const bool aligned = (count + alignment - 1) / alignment >= static_cast<std::size_t>(blocks);
                EXPECT_EQ(layout.begin(0), 0u);
                EXPECT_EQ(layout.begin(blocks), count);
                for (int block = 0; block < blocks; ++block) {
                    const std::size_t fair = count / static_cast<std::size_t>(blocks);
                    ASSERT_LE(layout.begin(block), layout.begin(block + 1));
                    EXPECT_LE(layout.size(block), fair + (aligned ? alignment : 1))
                        << count << " in " << blocks;
                    EXPECT_EQ(aligned ? layout.begin(block) % alignment : 0, 0u);
                    EXPECT_TRUE(layout.size(block) > 0 || count < static_cast<std::size_t>(blocks));
                }
            }
        }
    }
}

TEST(BlockLayout, TakesAnyCount) {
    const std::size_t most = ~std::size_t(0);
    const BlockLayout layout(most, 7, 1);
    EXPECT_EQ(layout.begin(7), most);
    EXPECT_LE(layout.size(6), most / 7 + 1);
    EXPECT_LE(layout.size(0), most / 7 + 1);
}

}  // namespace
}  // namespace mastic::comm
