#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <mastic/data/distributed_sampler.hpp>

#include "support/expect_error.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;

// What all ranks of a world see, step by step; advances `position`.
struct World {
    std::uint64_t size;
    std::uint64_t batch;
    bool shuffle = true;
    std::uint64_t seed = 5;
    SamplerPosition position = {};

    // The plans of all ranks for one step.
    std::vector<StepPlan> step(int world_size) {
        std::vector<StepPlan> plans;
        SamplerPosition after;
        for (int rank = 0; rank < world_size; ++rank) {
            DistributedSampler sampler(size, batch, seed, shuffle);
            sampler.set_position(position);
            plans.push_back(sampler.next(rank, world_size));
            EXPECT_EQ(sampler.position(), plans.back().after);
            if (rank > 0) {
                EXPECT_EQ(sampler.position(), after);
            }
            after = sampler.position();
        }
        position = after;
        return plans;
    }
};

std::vector<std::uint64_t> joined(const std::vector<StepPlan>& plans) {
    std::vector<std::uint64_t> ids;
    for (const auto& plan : plans) {
        ids.insert(ids.end(), plan.ids.begin(), plan.ids.end());
    }
    return ids;
}

// The ids of one epoch in global order; checks each step.
std::vector<std::uint64_t> run_epoch(World& world, const std::vector<int>& world_sizes) {
    std::vector<std::uint64_t> order;
    for (std::size_t step = 0;; ++step) {
        const auto plans = world.step(world_sizes[step % world_sizes.size()]);
        const auto ids = joined(plans);
        const auto [least, most] =
            std::minmax_element(plans.begin(), plans.end(),
                                [](const auto& a, const auto& b) { return a.ids.size() < b.ids.size(); });
        EXPECT_LE(most->ids.size() - least->ids.size(), 1u);
        for (const auto& plan : plans) {
            EXPECT_EQ(plan.global_count, ids.size());
            EXPECT_EQ(plan.first_of_epoch, step == 0);
            EXPECT_EQ(plan.last_of_epoch, plans[0].last_of_epoch);
        }
        order.insert(order.end(), ids.begin(), ids.end());
        if (plans[0].last_of_epoch) {
            return order;
        }
        EXPECT_EQ(ids.size(), world.batch);
    }
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> ids) {
    std::sort(ids.begin(), ids.end());
    return ids;
}

std::vector<std::uint64_t> all_ids(std::uint64_t size) {
    std::vector<std::uint64_t> ids(size);
    for (std::uint64_t i = 0; i < size; ++i) {
        ids[i] = i;
    }
    return ids;
}

TEST(DistributedSampler, EachSampleOncePerEpochInAnOrderThatDoesNotDependOnTheRanks) {
    for (const std::uint64_t size : {9, 16, 31, 101, 128, 257}) {
        for (const std::uint64_t batch : {1, 4, 7, 10, 32, 300}) {
            World alone{size, batch};
            const auto order = run_epoch(alone, {1});
            EXPECT_EQ(sorted(order), all_ids(size));
            for (int ranks = 2; ranks <= 9; ++ranks) {
                World world{size, batch};
                EXPECT_EQ(run_epoch(world, {ranks}), order)
                    << size << " samples, batch " << batch << ", ranks " << ranks;
            }
        }
    }
}

TEST(DistributedSampler, TheNumberOfRanksMayChangeAtAnyStep) {
    for (const std::uint64_t size : {11, 64, 101}) {
        World alone{size, 5};
        World changing{size, 5};
        for (int epoch = 0; epoch < 3; ++epoch) {
            EXPECT_EQ(run_epoch(changing, {1, 2, 9, 3, 7}), run_epoch(alone, {1}));
        }
    }
}

// Case 14: 16 samples, 4 of them on one rank, the rest on two.
TEST(DistributedSampler, AResizeLosesNoSample) {
    World world{16, 4};
    auto ids = joined(world.step(1));
    for (int step = 0; step < 3; ++step) {
        const auto more = joined(world.step(2));
        ids.insert(ids.end(), more.begin(), more.end());
    }
    EXPECT_EQ(sorted(ids), all_ids(16));
    EXPECT_EQ(world.position, (SamplerPosition{0, 16}));
    EXPECT_EQ(world.step(2)[0].epoch, 1u);
}

// Case 4: 101 samples, 2 ranks, batch 10.
TEST(DistributedSampler, TheLastBatchIsSmallerAndSharesMayBeEmpty) {
    World world{101, 10};
    for (int step = 0; step < 10; ++step) {
        EXPECT_FALSE(world.step(2)[0].last_of_epoch);
    }
    const auto last = world.step(2);
    EXPECT_TRUE(last[0].last_of_epoch);
    EXPECT_EQ(last[0].global_count, 1u);
    EXPECT_EQ(last[0].ids.size() + last[1].ids.size(), 1u);
}

TEST(DistributedSampler, EpochsAndSeedsHaveOrdersOfTheirOwn) {
    World world{50, 50};
    const auto first = run_epoch(world, {1});
    const auto second = run_epoch(world, {1});
    World other{50, 50, true, 6};
    EXPECT_NE(first, second);
    EXPECT_NE(first, run_epoch(other, {1}));
    World unshuffled{50, 7, false};
    EXPECT_EQ(run_epoch(unshuffled, {3}), all_ids(50));
}

TEST(DistributedSampler, OneSamplerRunsThroughTheEpochs) {
    DistributedSampler sampler(7, 3, 1, true);
    EXPECT_EQ(sampler.steps_per_epoch(), 3u);
    StepPlan plan;
    std::vector<std::uint64_t> epochs;
    for (int step = 0; step < 7; ++step) {
        sampler.next_into(plan, 0, 1);
        epochs.push_back(plan.epoch);
    }
    EXPECT_EQ(epochs, (std::vector<std::uint64_t>{0, 0, 0, 1, 1, 1, 2}));
    EXPECT_EQ(sampler.position(), (SamplerPosition{2, 3}));
}

TEST(DistributedSampler, SharesFollowTheirWeights) {
    const std::vector<std::uint64_t> shares = {3, 0, 1, 4};
    std::map<int, std::size_t> counts;
    std::vector<std::uint64_t> ids;
    for (int rank = 0; rank < 4; ++rank) {
        const auto plan = DistributedSampler(100, 80, 1, true).next(rank, shares);
        counts[rank] = plan.ids.size();
        ids.insert(ids.end(), plan.ids.begin(), plan.ids.end());
    }
    EXPECT_EQ(counts, (std::map<int, std::size_t>{{0, 30}, {1, 0}, {2, 10}, {3, 40}}));
    DistributedSampler alone(100, 80, 1, true);
    EXPECT_EQ(ids, alone.next(0, 1).ids);
}

TEST(DistributedSampler, TheBatchMayChange) {
    DistributedSampler sampler(10, 4, 1, false);
    EXPECT_EQ(sampler.next(0, 1).ids, (std::vector<std::uint64_t>{0, 1, 2, 3}));
    sampler.set_global_batch(5);
    EXPECT_EQ(sampler.next(0, 1).ids, (std::vector<std::uint64_t>{4, 5, 6, 7, 8}));
    EXPECT_EQ(sampler.next(0, 1).ids, (std::vector<std::uint64_t>{9}));
}

TEST(DistributedSampler, ImpossibleRequestsAreRefused) {
    expect_error(ExitCode::data, "0 samples", [] { DistributedSampler(0, 4, 1, true); });
    expect_error(ExitCode::usage, "global batch", [] { DistributedSampler(10, 0, 1, true); });
    // Case 5.
    DistributedSampler sampler(3, 4, 1, true);
    expect_error(ExitCode::data, "3 samples for 4 ranks", [&] { sampler.next(0, 4); });
    expect_error(ExitCode::usage, "no rank 2 among 2", [&] { sampler.next(2, 2); });
    expect_error(ExitCode::usage, "no rank 0 among 0", [&] { sampler.next(0, 0); });
    const std::vector<std::uint64_t> zero = {0, 0};
    expect_error(ExitCode::usage, "shares", [&] { sampler.next(0, zero); });
    expect_error(ExitCode::checkpoint, "sample 4 of an epoch, the data set has 3", [&] {
        sampler.set_position({0, 4});
    });
}

}  // namespace
}  // namespace mastic::data
