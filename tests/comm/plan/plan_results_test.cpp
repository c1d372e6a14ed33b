// What plans compute, by simulation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <mastic/comm/half.hpp>
#include "comm/plan/every_plan.hpp"
#include "comm/plan/simulator.hpp"

namespace mastic::comm {
namespace {

const std::size_t counts[] = {0, 1, 2, 3, 5, 16, 17, 100, 300};

// An exchange of the same block needs streams that hold an element (plan.hpp).
int least_capacity(const PlanAlgorithm& algorithm) {
    return std::string(algorithm.name) == "recursive-doubling" ? 1 : 0;
}

// The buffer lengths that the collective can have: whole numbers of equal parts, where parts matter.
std::size_t count_for(const PlanAlgorithm& algorithm, std::size_t count, int size) {
    const bool equal_parts =
        algorithm.collective == Collective::reduce_scatter || algorithm.collective == Collective::allgather;
    return equal_parts ? count / 4 * static_cast<std::size_t>(size) : count;
}

struct Case {
    const PlanAlgorithm& algorithm;
    int size;
    int root;
    std::size_t count;

    std::size_t alignment() const {
        return algorithm.collective == Collective::allreduce || algorithm.collective == Collective::broadcast
                   ? 64
                   : 1;
    }
    std::string name() const {
        return std::string(to_string(algorithm.collective)) + " " + algorithm.name + ", " +
               std::to_string(size) + " ranks, root " + std::to_string(root) + ", " + std::to_string(count) +
               " elements";
    }
};

template <class Visitor>
void for_each_count(Visitor visit) {
    for_each_case([&](const PlanAlgorithm& algorithm, int size, int root) {
        for (const std::size_t count : counts) {
            if (count > 100 && root > 2) {
                continue;  // long buffers meet the same plan, moved by the root
            }
            visit(Case{algorithm, size, root, count_for(algorithm, count, size)});
        }
    });
}

// The input: `value(rank, element)` where the rank contributes, `unset` elsewhere.
template <class Value, class Contribution>
std::vector<std::vector<Value>> inputs(const Case& test, Contribution value, Value unset) {
    std::vector<std::vector<Value>> buffers(static_cast<std::size_t>(test.size),
                                            std::vector<Value>(test.count, unset));
    const BlockLayout parts(test.count, test.size, 1);
    for (int rank = 0; rank < test.size; ++rank) {
        const Collective kind = test.algorithm.collective;
        const bool sends_all = kind == Collective::allreduce || kind == Collective::reduce_scatter ||
                               (kind == Collective::broadcast && rank == test.root);
        const std::size_t begin = kind == Collective::allgather ? parts.begin(rank) : 0;
        const std::size_t end = kind == Collective::allgather ? parts.begin(rank + 1)
                                : sends_all                   ? test.count
                                                              : 0;
        for (std::size_t i = begin; i < end; ++i) {
            buffers[static_cast<std::size_t>(rank)][i] = value(rank, i);
        }
    }
    return buffers;
}

// The elements of which `rank` has the result.
std::pair<std::size_t, std::size_t> result_range(const Case& test, int rank) {
    const BlockLayout parts(test.count, test.size, 1);
    return test.algorithm.collective == Collective::reduce_scatter
               ? std::pair{parts.begin(rank), parts.begin(rank + 1)}
               : std::pair{std::size_t(0), test.count};
}

template <class Value>
bool simulate(const Case& test, std::vector<std::vector<Value>>& buffers, std::function<Value(Value)> round,
              int capacity) {
    const std::vector<Plan> plans = plans_of(test.algorithm, test.size, test.root);
    const BlockLayout layout(test.count, plans.front().blocks, test.alignment());
    Simulator<Value> simulator(plans, layout, buffers, std::plus<Value>(), std::move(round), capacity);
    return simulator.run(static_cast<std::uint64_t>(test.size) * 1000 + test.count);
}

std::int64_t integer_value(int rank, std::size_t element) {
    return static_cast<std::int64_t>(element) * 1000 + rank + 1;
}

std::int64_t serial_result(const Case& test, std::size_t element) {
    const BlockLayout parts(test.count, test.size, 1);
    std::int64_t sum = 0;
    for (int rank = 0; rank < test.size; ++rank) {
        const bool owns = element >= parts.begin(rank) && element < parts.begin(rank + 1);
        switch (test.algorithm.collective) {
            case Collective::allreduce:
            case Collective::reduce_scatter:
                sum += integer_value(rank, element);
                break;
            case Collective::broadcast:
                sum += rank == test.root ? integer_value(rank, element) : 0;
                break;
            case Collective::allgather:
                sum += owns ? integer_value(rank, element) : 0;
                break;
        }
    }
    return sum;
}

void expect_serial_result(const Case& test, int capacity) {
    auto buffers = inputs<std::int64_t>(test, integer_value, -1);
    ASSERT_TRUE(simulate<std::int64_t>(test, buffers, std::identity(), capacity))
        << test.name() << ": deadlock";
    for (int rank = 0; rank < test.size; ++rank) {
        const auto [begin, end] = result_range(test, rank);
        for (std::size_t i = begin; i < end; ++i) {
            ASSERT_EQ(buffers[static_cast<std::size_t>(rank)][i], serial_result(test, i))
                << test.name() << ": rank " << rank << ", element " << i;
        }
    }
}

TEST(Plans, GiveTheSerialResultOverStreamsThatHoldNothing) {
    for_each_count([](const Case& test) { expect_serial_result(test, least_capacity(test.algorithm)); });
}

TEST(Plans, GiveTheSerialResultOverStreamsThatHoldAFew) {
    for_each_count([](const Case& test) {
        expect_serial_result(test, 1);
        expect_serial_result(test, 7);
    });
}

// The exception in plan.hpp is real, and the simulator finds a deadlock.
TEST(Plans, AnExchangeOfTheSameBlockNeedsAStreamThatHoldsAnElement) {
    const PlanAlgorithm& doubling = *find_plan_algorithm(Collective::allreduce, "recursive-doubling");
    auto buffers = std::vector<std::vector<int>>{{1}, {2}};
    EXPECT_FALSE(simulate<int>(Case{doubling, 2, 0, 1}, buffers, std::identity(), 0));
}

// Numbers whose sum depends on the order of adding.
float float_value(int rank, std::size_t element) {
    std::minstd_rand random(static_cast<unsigned>(rank * 7919 + static_cast<int>(element) + 1));
    random.discard(3);
    return std::ldexp(static_cast<float>(random() % 20001) - 10000.0f, static_cast<int>(random() % 12) - 12);
}

float through_bfloat16(float value) {
    BFloat16 half;
    narrow(value, half);
    return widen(half);
}

// As in wire.hpp: a contribution is rounded at most once for each rank.
double error_bound(const Case& test, std::size_t element, double relative) {
    double magnitudes = 0;
    for (int rank = 0; rank < test.size; ++rank) {
        magnitudes += std::fabs(float_value(rank, element));
    }
    return 1.01 * test.size * relative * magnitudes;
}

void expect_same_bits(const Case& test, const std::vector<std::vector<float>>& buffers) {
    for (int rank = 1; rank < test.size && test.count > 0; ++rank) {
        ASSERT_EQ(std::memcmp(buffers[static_cast<std::size_t>(rank)].data(), buffers[0].data(),
                              test.count * sizeof(float)),
                  0)
            << test.name() << ": ranks 0 and " << rank;
    }
}

void expect_close(const Case& test, const std::vector<std::vector<float>>& buffers, double relative) {
    for (int rank = 0; rank < test.size; ++rank) {
        const auto [begin, end] = result_range(test, rank);
        for (std::size_t i = begin; i < end; ++i) {
            double exact = 0;
            for (int from = 0; from < test.size; ++from) {
                exact += float_value(from, i);
            }
            ASSERT_NEAR(buffers[static_cast<std::size_t>(rank)][i], exact, error_bound(test, i, relative))
                << test.name() << ": rank " << rank << ", element " << i;
        }
    }
}

// `relative`: the largest error of one rounding.
void expect_agreement(std::function<float(float)> round, double relative) {
    for_each_count([&](const Case& test) {
        auto buffers = inputs<float>(test, float_value, 0);
        ASSERT_TRUE(simulate<float>(test, buffers, round, 1)) << test.name() << ": deadlock";
        if (test.algorithm.collective != Collective::reduce_scatter) {
            expect_same_bits(test, buffers);
        }
        if (test.algorithm.collective == Collective::allreduce ||
            test.algorithm.collective == Collective::reduce_scatter) {
            expect_close(test, buffers, relative);
        }
    });
}

TEST(Plans, RanksAgreeToTheBit) {
    expect_agreement(std::identity(), 0x1p-24);
}

TEST(Plans, RanksAgreeToTheBitWhenSendsRound) {
    expect_agreement(through_bfloat16, 0x1p-8);
}

}  // namespace
}  // namespace mastic::comm
