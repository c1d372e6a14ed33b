// All methods give the exact reduction, the same bits on all ranks, and keep step whatever follows on a lane.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/plan/plan.hpp>
#include <mastic/comm/shm/shm_node.hpp>
#include <mastic/core/random.hpp>

#include "comm/shm/exact_values.hpp"
#include "comm/shm/local_ranks.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::drive;
using test::expect_error;
using test::expect_ranks;
using test::LocalGroup;

constexpr DataType types[] = {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                              DataType::int8,    DataType::uint8,   DataType::int16,   DataType::int32,
                              DataType::int64,   DataType::boolean};
constexpr ReduceOp ops[] = {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::average};

// Where the buffers of the ranks lie.
enum class Buffers { own, shared, mixed };
constexpr Buffers buffer_kinds[] = {Buffers::own, Buffers::shared, Buffers::mixed};

struct Buffer {
    // Private ones begin at an odd element, so that nothing relies on alignment.
    Buffer(ShmNode& node, Buffers kind, DataType type, std::size_t count) : view{nullptr, count, type} {
        const bool shared = kind == Buffers::shared || (kind == Buffers::mixed && node.rank() % 2 == 1);
        const std::size_t bytes = (count + 1) * size_of(type);
        memory = shared ? node.allocate(bytes) : std::shared_ptr<void>(std::malloc(bytes), std::free);
        view.data = static_cast<std::byte*>(memory.get()) + (shared ? 0 : size_of(type));
    }
    std::byte* data() const { return static_cast<std::byte*>(view.data); }
    void fill(const std::vector<std::byte>& values) const {
        if (!values.empty()) {
            std::memcpy(view.data, values.data(), values.size());
        }
    }
    std::shared_ptr<void> memory;
    BufferView view;
};

bool possible(ShmMethod method, Buffers buffers, const ShmNode& node) {
    if (method == ShmMethod::direct) {
        return buffers == Buffers::shared;
    }
    return method != ShmMethod::single_copy || node.single_copy();
}

std::string name_of(ShmMethod method, Buffers buffers, DataType type, ReduceOp op, std::size_t count) {
    return std::string(shm_methods()[static_cast<std::size_t>(method)].name) + ", buffers " +
           std::to_string(static_cast<int>(buffers)) + ", " + to_string(type) + " " + to_string(op) + " of " +
           std::to_string(count);
}

void check_allreduce(ShmNode& node, int lane, ShmMethod method, Buffers buffers, DataType type, ReduceOp op,
                     std::size_t count) {
    const Buffer buffer(node, buffers, type, count);
    buffer.fill(test::contribution(type, count, node.rank()));
    drive(*node.make_allreduce(lane, buffer.view, op, method));
    ASSERT_EQ(test::first_difference(buffer.data(), test::reduction_of(type, count, node.size(), op), type),
              "")
        << name_of(method, buffers, type, op, count);
}

class ShmAllreduce : public testing::TestWithParam<int> {};

TEST_P(ShmAllreduce, IsExactWithEveryMethodTypeAndOperation) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        for (const ShmMethodName& method : shm_methods()) {
            for (const Buffers buffers : buffer_kinds) {
                for (const DataType type : types) {
                    for (const ReduceOp op : ops) {
                        for (const std::size_t count : {0u, 1u, 2u, 67u, 5001u}) {
                            if (possible(method.method, buffers, *node) && test::is_supported(type, op)) {
                                ASSERT_NO_FATAL_FAILURE(
                                    check_allreduce(*node, 0, method.method, buffers, type, op, count));
                            }
                        }
                    }
                }
            }
        }
    });
}

TEST_P(ShmAllreduce, IsExactOverManySegmentsAndPieces) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        for (const bool allow_single_copy : {true, false}) {
            const auto node = ShmNode::create(group, {.lanes = 2, .allow_single_copy = allow_single_copy});
            for (const ShmMethodName& method : shm_methods()) {
                for (const Buffers buffers : buffer_kinds) {
                    for (const std::size_t count : {32'767u, 65'537u, 700'001u}) {
                        if (possible(method.method, buffers, *node)) {
                            ASSERT_NO_FATAL_FAILURE(check_allreduce(*node, 1, method.method, buffers,
                                                                    DataType::float32, ReduceOp::average,
                                                                    count));
                        }
                    }
                }
            }
        }
    });
}

// Sums that depend on the order of additions.
TEST_P(ShmAllreduce, GivesTheSameBitsOnAllRanks) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        CounterRandom random(1, static_cast<std::uint64_t>(group.rank()) << 32);
        for (const ShmMethodName& method : shm_methods()) {
            const Buffer buffer(*node, Buffers::shared, DataType::float32, 9001);
            const std::span values(static_cast<float*>(buffer.view.data), buffer.view.count);
            for (float& value : values) {
                value = static_cast<float>(random.uniform());
            }
            drive(*node->make_allreduce(0, buffer.view, ReduceOp::sum, method.method));
            const std::string mine(reinterpret_cast<const char*>(buffer.data()), buffer.view.bytes());
            for (const std::string& other : group.allgather_strings(mine)) {
                EXPECT_TRUE(other == mine) << method.name;
            }
        }
    });
}

// `automatic` goes from one way to the other as it measures: a run that is resumed must get the bits of one that was not.
TEST_P(ShmAllreduce, GivesTheSameBitsWhicheverWayPrivateBuffersGo) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        for (const DataType type : {DataType::float32, DataType::bfloat16}) {
            constexpr std::size_t count = 150'001;
            CounterRandom random(1, static_cast<std::uint64_t>(group.rank()) << 32);
            std::vector<std::uint16_t> bits(count * size_of(type) / 2);
            for (std::uint16_t& half : bits) {
                half = static_cast<std::uint16_t>(0x3e00 + random.below(0x200));  // 0.125 to 0.5, either type
            }
            const auto sum_by = [&](ShmMethod method, ReduceOp op) {
                std::vector<std::uint16_t> values = bits;
                drive(*node->make_allreduce(0, {values.data(), count, type}, op, method));
                return values;
            };
            for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
                const auto copied = sum_by(ShmMethod::copy, op);
                EXPECT_TRUE(!node->single_copy() || sum_by(ShmMethod::single_copy, op) == copied);
                for (int i = 0; i < 10; ++i) {
                    EXPECT_TRUE(sum_by(ShmMethod::automatic, op) == copied) << to_string(type) << " " << i;
                }
            }
        }
    });
}

// Whatever follows on a lane: slots and flags of one operation must not meet those of the next.
TEST_P(ShmAllreduce, KeepsStepOverThousandsOfMixedOperations) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.lanes = 2});
        CounterRandom same_on_all(2);
        CounterRandom own(3, static_cast<std::uint64_t>(group.rank()) << 32);
        for (int round = 0; round < 3000; ++round) {
            const ShmMethod method = shm_methods()[same_on_all.below(shm_methods().size())].method;
            const Buffers buffers =
                method == ShmMethod::direct ? Buffers::shared : buffer_kinds[same_on_all.below(3)];
            const std::size_t count = 1 + same_on_all.below(same_on_all.below(50) == 0 ? 100'000 : 300);
            const int lane = static_cast<int>(same_on_all.below(2));
            if (possible(method, buffers, *node)) {
                ASSERT_NO_FATAL_FAILURE(
                    check_allreduce(*node, lane, method, buffers, DataType::int32, ReduceOp::sum, count));
            }
            if (own.below(20) == 0) {
                test::nap();
            }
        }
    });
}

TEST_P(ShmAllreduce, RunsLanesSideBySideInAnyOrder) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        constexpr std::size_t lanes = 4;
        const auto node = ShmNode::create(group, {.lanes = lanes});
        CounterRandom same_on_all(4);
        CounterRandom own(5, static_cast<std::uint64_t>(group.rank()) << 32);
        for (int round = 0; round < 60; ++round) {
            std::vector<Buffer> buffers;
            std::vector<std::unique_ptr<Operation>> operations;
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const std::size_t count = 1 + same_on_all.below(lane % 2 == 0 ? 3000 : 120'000);
                buffers.emplace_back(*node, buffer_kinds[same_on_all.below(3)], DataType::int32, count);
                buffers.back().fill(test::contribution(DataType::int32, count, node->rank()));
                operations.push_back(
                    node->make_allreduce(static_cast<int>(lane), buffers.back().view, ReduceOp::sum));
            }
            std::vector<std::size_t> left = {0, 1, 2, 3};
            for (const std::uint64_t lane : random_permutation(lanes, own)) {
                operations[lane]->start();
            }
            while (!left.empty()) {
                const std::size_t pick = own.below(left.size());
                if (operations[left[pick]]->step() == Step::complete) {
                    left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
                } else if (own.below(4) == 0) {
                    test::nap();
                }
            }
            for (const Buffer& buffer : buffers) {
                ASSERT_EQ(test::first_difference(buffer.data(),
                                                 test::reduction_of(DataType::int32, buffer.view.count,
                                                                    node->size(), ReduceOp::sum),
                                                 DataType::int32),
                          "");
            }
        }
    });
}

// With parts for fewer ranks too; what is spread is not what was reduced, so that each half is seen.
TEST_P(ShmAllreduce, ReducesToPartsAndSpreadsThem) {
    expect_ranks(GetParam(), [](LocalGroup& group) {
        for (const bool allow_single_copy : {true, false}) {
            const auto node = ShmNode::create(group, {.lanes = 1, .allow_single_copy = allow_single_copy});
            for (int parts = 1; parts <= node->size(); ++parts) {
                for (const Buffers buffers : buffer_kinds) {
                    for (const std::size_t count : {0u, 1u, 3u, 200u, 5001u, 300'001u}) {
                        SCOPED_TRACE(std::to_string(parts) + " parts of " + std::to_string(count));
                        const Buffer buffer(*node, buffers, DataType::int32, count);
                        buffer.fill(test::contribution(DataType::int32, count, node->rank()));
                        drive(*node->make_reduce_to_parts(0, buffer.view, ReduceOp::average, parts));
                        const BlockLayout layout(count, parts);
                        const std::span values(static_cast<std::int32_t*>(buffer.view.data), count);
                        const auto sums =
                            test::reduction_of(DataType::int32, count, node->size(), ReduceOp::sum);
                        const auto* sum = reinterpret_cast<const std::int32_t*>(sums.data());
                        for (std::size_t i = 0; node->rank() < parts && i < layout.size(node->rank()); ++i) {
                            const std::size_t at = layout.begin(node->rank()) + i;
                            ASSERT_EQ(values[at], sum[at]) << at;
                            values[at] += static_cast<std::int32_t>(at);
                        }
                        drive(*node->make_spread_parts(0, buffer.view, parts));
                        for (std::size_t at = 0; at < count; ++at) {
                            ASSERT_EQ(values[at], sum[at] + static_cast<std::int32_t>(at)) << at;
                        }
                    }
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ShmAllreduce, testing::Values(1, 2, 3, 4));

TEST(ShmAllreduceErrors, ImpossibleMethodsAreUsageErrorsOnAllRanks) {
    expect_ranks(2, [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.allow_single_copy = false});
        EXPECT_FALSE(node->single_copy());
        const Buffer mixed(*node, Buffers::mixed, DataType::float32, 100);
        expect_error(ExitCode::usage, "'direct' needs buffers from allocate()",
                     [&] { drive(*node->make_allreduce(0, mixed.view, ReduceOp::sum, ShmMethod::direct)); });
        expect_error(ExitCode::usage, "'single-copy' is not possible", [&] {
            drive(*node->make_allreduce(0, mixed.view, ReduceOp::sum, ShmMethod::single_copy));
        });
        BufferView device = mixed.view;
        device.memory = MemoryKind::device;
        expect_error(ExitCode::usage, "host memory only",
                     [&] { node->make_allreduce(0, device, ReduceOp::sum); });
        check_allreduce(*node, 0, ShmMethod::automatic, Buffers::mixed, DataType::float32, ReduceOp::sum,
                        30'000);
    });
}

TEST(ShmAllreduceErrors, DifferentSizesAreNoticedBeforeAnythingIsTouched) {
    expect_ranks(2, [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        const std::size_t count = 30'000 + static_cast<std::size_t>(group.rank());
        const Buffer buffer(*node, Buffers::shared, DataType::float32, count);
        expect_error(ExitCode::collective, "takes part with",
                     [&] { drive(*node->make_allreduce(0, buffer.view, ReduceOp::sum)); });
        EXPECT_EQ(static_cast<float*>(buffer.view.data)[0], 0);
    });
}

}  // namespace
}  // namespace mastic::comm
