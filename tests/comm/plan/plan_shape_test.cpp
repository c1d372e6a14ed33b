// What plans send, to whom and how often.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "comm/plan/every_plan.hpp"

namespace mastic::comm {
namespace {

// (first block, number of blocks) of the steps between two ranks, in order.
using Transfers = std::map<std::pair<int, int>, std::vector<std::pair<int, int>>>;

TEST(Plans, TheNthSendMatchesTheNthReceive) {
    for_each_case([](const PlanAlgorithm& algorithm, int size, int root) {
        Transfers sends, receives;
        const std::vector<Plan> plans = plans_of(algorithm, size, root);
        for (int rank = 0; rank < size; ++rank) {
            const Plan& plan = plans[static_cast<std::size_t>(rank)];
            ASSERT_EQ(plan.blocks, plans.front().blocks);
            for (const PlanStep& step : plan.steps) {
                ASSERT_TRUE(step.peer >= 0 && step.peer < size && step.peer != rank);
                ASSERT_TRUE(step.first_block >= 0 && step.first_block < plan.blocks);
                ASSERT_TRUE(step.block_count >= 1 && step.block_count <= plan.blocks);
                auto& list =
                    step.action == Action::send ? sends[{rank, step.peer}] : receives[{step.peer, rank}];
                list.emplace_back(step.first_block, step.block_count);
            }
        }
        EXPECT_EQ(sends, receives) << algorithm.name << ", " << size << " ranks";
    });
}

TEST(Plans, PartsAreBlocks) {
    for_each_case([](const PlanAlgorithm& algorithm, int size, int root) {
        if (algorithm.collective == Collective::reduce_scatter ||
            algorithm.collective == Collective::allgather) {
            EXPECT_EQ(algorithm.make(0, size, root).blocks, size) << algorithm.name;
        }
    });
}

// Blocks sent by `rank`, as a share of the buffer.
double volume(const PlanAlgorithm& algorithm, int rank, int size, int root = 0) {
    const Plan plan = algorithm.make(rank, size, root);
    int sent = 0;
    for (const PlanStep& step : plan.steps) {
        sent += step.action == Action::send ? step.block_count : 0;
    }
    return static_cast<double>(sent) / plan.blocks;
}

void expect_volume(Collective collective, const char* name, int size, double shares_of_a_pth) {
    for (int rank = 0; rank < size; ++rank) {
        EXPECT_DOUBLE_EQ(volume(*find_plan_algorithm(collective, name), rank, size), shares_of_a_pth / size)
            << to_string(collective) << " " << name << ", rank " << rank << " of " << size;
    }
}

TEST(Plans, SendNoMoreThanTheyMust) {
    for (int size = 2; size <= most_ranks; ++size) {
        for (const char* name : {"ring", "bidirectional-ring"}) {
            expect_volume(Collective::allreduce, name, size, 2 * (size - 1));
        }
        expect_volume(Collective::reduce_scatter, "ring", size, size - 1);
        expect_volume(Collective::reduce_scatter, "pairwise", size, size - 1);
        expect_volume(Collective::allgather, "ring", size, size - 1);
        expect_volume(Collective::allgather, "bruck", size, size - 1);
    }
    for (int size = 2; size <= 16; size *= 2) {
        expect_volume(Collective::allreduce, "rabenseifner", size, 2 * (size - 1));
        expect_volume(Collective::reduce_scatter, "recursive-halving", size, size - 1);
    }
}

TEST(Plans, ABroadcastGivesEachRankEachBlockOnce) {
    for_each_case([](const PlanAlgorithm& algorithm, int size, int root) {
        if (algorithm.collective == Collective::broadcast) {
            double sent = 0;
            for (int rank = 0; rank < size; ++rank) {
                sent += volume(algorithm, rank, size, root);
            }
            EXPECT_NEAR(sent, size - 1, 1e-9) << algorithm.name << ", " << size << " ranks, root " << root;
        }
    });
}

// How many messages follow one another at most: a send is one later than what its rank has received of its blocks before.
class Rounds {
  public:
    explicit Rounds(std::vector<Plan> plans) : plans_(std::move(plans)), progress_(plans_.size(), 0) {
        for (const Plan& plan : plans_) {
            arrived_.emplace_back(static_cast<std::size_t>(plan.blocks), 0);
        }
    }

    int count() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
                for (; progress_[rank] < plans_[rank].steps.size() && step(rank); ++progress_[rank]) {
                    moved = true;
                }
            }
        }
        return most_;
    }

  private:
    bool step(std::size_t rank) {
        const PlanStep& step = plans_[rank].steps[progress_[rank]];
        const int self = static_cast<int>(rank);
        if (step.action == Action::send) {
            int latest = 0;
            for_blocks(rank, step, [&](int& arrived) { latest = std::max(latest, arrived); });
            sent_[{self, step.peer}].push_back(latest + 1);
            most_ = std::max(most_, latest + 1);
            return true;
        }
        auto& stream = sent_[{step.peer, self}];
        if (stream.empty()) {
            return false;
        }
        for_blocks(rank, step, [&](int& arrived) { arrived = std::max(arrived, stream.front()); });
        stream.pop_front();
        return true;
    }

    template <class Visitor>
    void for_blocks(std::size_t rank, const PlanStep& step, Visitor visit) {
        for (int i = 0; i < step.block_count; ++i) {
            visit(arrived_[rank][static_cast<std::size_t>((step.first_block + i) % plans_[rank].blocks)]);
        }
    }

    std::vector<Plan> plans_;
    std::vector<std::size_t> progress_;
    std::vector<std::vector<int>> arrived_;
    std::map<std::pair<int, int>, std::deque<int>> sent_;
    int most_ = 0;
};

int rounds(Collective collective, const char* name, int size) {
    return Rounds(plans_of(*find_plan_algorithm(collective, name), size, 0)).count();
}

TEST(Plans, TakeTheRoundsThatTheyPromise) {
    for (int size = 2; size <= most_ranks; ++size) {
        SCOPED_TRACE(size);
        const int up = std::bit_width(static_cast<unsigned>(size - 1));    // ceil(log2)
        const int down = std::bit_width(static_cast<unsigned>(size)) - 1;  // floor(log2)
        const int fold = up - down;
        EXPECT_EQ(rounds(Collective::allreduce, "ring", size), 2 * (size - 1));
        EXPECT_EQ(rounds(Collective::allreduce, "recursive-doubling", size), up);
        EXPECT_EQ(rounds(Collective::allreduce, "rabenseifner", size), 2 * down + 2 * fold);
        EXPECT_LE(rounds(Collective::reduce_scatter, "recursive-halving", size), down + 2 * fold);
        EXPECT_EQ(rounds(Collective::reduce_scatter, "pairwise", size), 1);
        EXPECT_LE(rounds(Collective::allgather, "bruck", size), up);
        EXPECT_EQ(rounds(Collective::broadcast, "chain", size), size - 1);
        EXPECT_LE(rounds(Collective::broadcast, "binomial", size), up);
    }
}

}  // namespace
}  // namespace mastic::comm
