#include <gtest/gtest.h>

#include <mastic/core/error.hpp>
#include <mastic/engine/batch_scaling.hpp>

namespace mastic::engine {
namespace {

TEST(BatchScaling, NoneSharesTheBatch) {
    EXPECT_EQ(scaled_batch(BatchScaling::none, 64, 5), 64);
    EXPECT_EQ(scaled_rate(BatchScaling::none, 5), 1.0);
}

TEST(BatchScaling, ElseEachMemberAddsOne) {
    for (const BatchScaling scaling : {BatchScaling::linear, BatchScaling::sqrt}) {
        EXPECT_EQ(scaled_batch(scaling, 64, 1), 64);
        EXPECT_EQ(scaled_rate(scaling, 1), 1.0);
        EXPECT_EQ(scaled_batch(scaling, 64, 4), 256);
    }
    EXPECT_EQ(scaled_rate(BatchScaling::linear, 4), 4.0);
    EXPECT_EQ(scaled_rate(BatchScaling::sqrt, 4), 2.0);
}

TEST(BatchScaling, HasNames) {
    EXPECT_EQ(parse_batch_scaling("none"), BatchScaling::none);
    EXPECT_EQ(parse_batch_scaling("linear"), BatchScaling::linear);
    EXPECT_EQ(parse_batch_scaling("sqrt"), BatchScaling::sqrt);
    EXPECT_THROW(parse_batch_scaling("square"), Error);
}

}  // namespace
}  // namespace mastic::engine
