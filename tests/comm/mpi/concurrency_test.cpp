// Many operations at once: order, priorities, overlap, several groups.
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/core/random.hpp>

#include "comm/mpi/session_fixture.hpp"

namespace mastic::comm {
namespace {

using test::session;

struct Pending {
    std::vector<float> values;
    float expected = 0;
    Request request;
};

// Rank r contributes r + 1 + offset everywhere.
void start_sum(Group& group, Pending& pending, std::size_t count, int offset, int priority) {
    pending.values.assign(count, static_cast<float>(group.rank() + 1 + offset));
    pending.expected = static_cast<float>(group.size() * (group.size() + 1) / 2 + group.size() * offset);
    pending.request =
        group.start_allreduce(view_of(std::span(pending.values)), ReduceOp::sum, {.priority = priority});
}

void expect_sum(const Pending& pending) {
    EXPECT_EQ(std::count(pending.values.begin(), pending.values.end(), pending.expected),
              static_cast<std::ptrdiff_t>(pending.values.size()));
}

// The order of waiting differs between ranks, the order of starting does not.
void wait_in_random_order(std::vector<Pending>& all, CounterRandom random) {
    for (const auto index : random_permutation(all.size(), random)) {
        all[index].request.wait();
        expect_sum(all[index]);
    }
}

void expect_many_in_flight(Group& group, std::size_t count) {
    std::vector<Pending> all(count);
    for (std::size_t i = 0; i < all.size(); ++i) {
        start_sum(group, all[i], 1 + i * 97, static_cast<int>(i), 0);
    }
    wait_in_random_order(all, CounterRandom(static_cast<std::uint64_t>(group.rank())));
}

TEST(Concurrency, ManyInFlightAreWaitedForInAnyOrder) {
    expect_many_in_flight(*session().make_group({.algorithm = "native-pipelined", .segment = Bytes{4096}, .depth = 2}), 48);
    expect_many_in_flight(*session().make_group({.algorithm = "native-blocking"}), 10);
}

// Ranks receive the operations at different times, so each has other ones to choose from: with priorities
// this would deadlock if the order of starting were a local matter.
TEST(Concurrency, PrioritiesAreSafeHoweverLateARankIs) {
    for (const int limit : {1, 2, 5}) {
        const auto group =
            session().make_group({.segment = Bytes{1024}, .depth = 2, .operations_in_flight = limit});
        CounterRandom same_on_all(7);
        CounterRandom own(static_cast<std::uint64_t>(group->rank()) + 100);
        std::vector<Pending> all(40);
        for (std::size_t i = 0; i < all.size(); ++i) {
            start_sum(*group, all[i], 1 + same_on_all.below(3000), static_cast<int>(i),
                      static_cast<int>(same_on_all.below(10)));
            if (own.below(4) == 0) {
                std::this_thread::sleep_for(std::chrono::microseconds(own.below(2000)));
            }
        }
        wait_in_random_order(all, own);
    }
}

TEST(Concurrency, ARequestCompletesDuringComputationWithoutAnyCall) {
    const auto group = session().make_group({.segment = Bytes{256u << 10}, .depth = 2});
    Pending pending;
    start_sum(*group, pending, 500'000, 0, 0);
    // Long enough for any machine; no rank calls anything meanwhile.
    volatile double sink = 1;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < deadline) {
        for (int i = 0; i < 1000; ++i) {
            sink = sink * 1.0000001;
        }
    }
    EXPECT_TRUE(pending.request.test());
    pending.request.wait();
    EXPECT_GT(pending.request.duration().count(), 0);
    expect_sum(pending);
}

TEST(Concurrency, SeveralGroupsShareTheProgressThread) {
    const auto world = session().make_group({.segment = Bytes{2048}});
    const auto blocking = session().make_group({.algorithm = "native-blocking"});
    const auto half = world->split(world->rank() % 2, 0);
    for (int round = 0; round < 5; ++round) {
        std::vector<Pending> all(9);
        for (std::size_t i = 0; i < all.size(); i += 3) {
            start_sum(*world, all[i], 2001, round, static_cast<int>(i));
            start_sum(*half, all[i + 1], 777, round, 0);
            start_sum(*blocking, all[i + 2], 1500, round, 0);
        }
        wait_in_random_order(all, CounterRandom(static_cast<std::uint64_t>(world->rank() + round)));
    }
}

TEST(Concurrency, ResultsArriveWhateverThePollPolicy) {
    for (const PollPolicy policy : {PollPolicy::spin, PollPolicy::yield, PollPolicy::sleep}) {
        const auto group = session().make_group({.segment = Bytes{64u << 10}, .poll = policy});
        Pending pending;
        start_sum(*group, pending, 100'000, 0, 0);
        pending.request.wait();
        expect_sum(pending);
    }
}

TEST(Concurrency, GroupsComeAndGo) {
    for (int i = 0; i < 25; ++i) {
        const auto group = session().make_group({.operations_in_flight = 1});
        Pending pending;
        start_sum(*group, pending, 3, i, 0);
        pending.request.wait();
        expect_sum(pending);
    }
}

std::vector<std::unique_ptr<Group>> make_various_groups() {
    std::vector<std::unique_ptr<Group>> groups;
    groups.push_back(session().make_group({.algorithm = "native-blocking"}));
    for (const int limit : {1, 2, 4}) {
        groups.push_back(session().make_group(
            {.segment = Bytes{5000}, .depth = limit, .operations_in_flight = 1 + limit % 3}));
    }
    groups.push_back(groups.back()->split(0, session().size() - session().rank()));
    return groups;
}

void run_random_mix(Group& group, CounterRandom random, int round) {
    std::vector<Pending> sums(1 + random.below(6));
    std::vector<std::int32_t> sent(random.below(500), group.rank());
    std::vector<std::int32_t> gathered(sent.size() * static_cast<std::size_t>(group.size()), -1);
    std::vector<double> spread(random.below(5000), group.rank() == 0 ? round : -1);
    const Request gather = group.start_allgather(view_of(std::span(sent)), view_of(std::span(gathered)));
    for (auto& sum : sums) {
        start_sum(group, sum, random.below(8000), round, static_cast<int>(random.below(5)));
    }
    const Request broadcast = group.start_broadcast(view_of(std::span(spread)), 0, {.priority = 3});
    group.start_barrier().wait();
    wait_in_random_order(sums, CounterRandom(random.next() + static_cast<std::uint64_t>(group.rank())));
    broadcast.wait();
    gather.wait();
    EXPECT_EQ(std::count(spread.begin(), spread.end(), round), static_cast<std::ptrdiff_t>(spread.size()));
    for (std::size_t i = 0; i < gathered.size(); ++i) {
        ASSERT_EQ(gathered[i], static_cast<std::int32_t>(i / sent.size()));
    }
}

// All drawn from one seed, so that ranks agree. The blocking group polls without yielding, so it comes seldom.
TEST(Stress, TwoHundredRandomMixesComeOutRight) {
    const auto groups = make_various_groups();
    for (int round = 0; round < 200; ++round) {
        CounterRandom random(2024, static_cast<std::uint64_t>(round) << 32);
        const std::size_t which = round % 50 == 0 ? 0 : 1 + random.below(groups.size() - 1);
        run_random_mix(*groups[which], random, round);
    }
}

}  // namespace
}  // namespace mastic::comm
