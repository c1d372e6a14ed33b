#include <torch/torch.h>

#include <gtest/gtest.h>

#include <mastic/gradient/buffer_average.hpp>

#include "comm/mpi/session_fixture.hpp"

namespace mastic::gradient {
namespace {

TEST(BufferAverage, WeighsByShareAndIsTheSameOnAllRanks) {
    const auto group = test::session().make_group({});
    const double rank = group->rank();
    const double size = group->size();
    const auto running_mean = torch::full({3, 2}, rank);
    const auto running_variance = torch::full({5}, 10 * rank, torch::kFloat64);
    const auto counter = torch::full({}, group->rank(), torch::kInt64);
    BufferAverage average({running_mean, counter, running_variance}, *group);
    // Rank r has r + 1 parts of all the samples.
    const double parts = size * (size + 1) / 2;
    average.start((rank + 1) / parts);
    average.finish();
    double expected = 0;
    for (int r = 0; r < group->size(); ++r) {
        expected += r * (r + 1) / parts;
    }
    EXPECT_TRUE(torch::allclose(running_mean, torch::full({3, 2}, expected)));
    EXPECT_TRUE(torch::allclose(running_variance, torch::full({5}, 10 * expected, torch::kFloat64)));
    EXPECT_EQ(counter.item<int64_t>(), group->rank());
}

TEST(BufferAverage, OfNothingDoesNothing) {
    const auto group = test::session().make_group({});
    BufferAverage average({}, *group);
    average.start(1.0);
    average.finish();
}

}  // namespace
}  // namespace mastic::gradient
