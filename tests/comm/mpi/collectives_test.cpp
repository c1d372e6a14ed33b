// Every type, operation and count against the exactly known result, on as many ranks as the program was started with.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/half.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/random.hpp>

#include "comm/mpi/exact_values.hpp"
#include "comm/mpi/session_fixture.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::expect_every_type_exact;
using test::session;

TEST(Allreduce, PipelinedIsExactForEveryTypeOperationAndCount) {
    const auto group = session().make_group({.algorithm = "native-pipelined", .segment = Bytes{40'000}, .depth = 3});
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::average}) {
        for (const std::size_t count : {0, 1, 2, 3, 1000, 100'001}) {
            expect_every_type_exact(*group, op, count);
        }
    }
}

// Fewer counts: MPI_Allreduce polls without yielding, so each costs time slices where ranks outnumber cores.
TEST(Allreduce, BlockingIsExactForEveryTypeAndOperation) {
    const auto group = session().make_group({.algorithm = "native-blocking"});
    expect_every_type_exact(*group, ReduceOp::average, 0);
    expect_every_type_exact(*group, ReduceOp::average, 3);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
        expect_every_type_exact(*group, op, 1001);
    }
}

TEST(Allreduce, OfUnsignedBytesAndBooleans) {
    const auto group = session().make_group({});
    std::array<std::uint8_t, 3> bytes{1, 2, static_cast<std::uint8_t>(group->rank())};
    group->allreduce(view_of(std::span(bytes)), ReduceOp::sum);
    const int ranks = group->size();
    EXPECT_EQ(bytes, (std::array<std::uint8_t, 3>{static_cast<std::uint8_t>(ranks),
                                                  static_cast<std::uint8_t>(2 * ranks),
                                                  static_cast<std::uint8_t>(ranks * (ranks - 1) / 2)}));
    std::array<bool, 2> flags{group->rank() == 0, true};
    group->allreduce(view_of(std::span(flags)), ReduceOp::min);
    EXPECT_EQ(flags, (std::array<bool, 2>{ranks == 1, true}));
    test::expect_error(ExitCode::usage, "boolean has no sum",
                       [&] { group->allreduce(view_of(std::span(flags)), ReduceOp::sum); });
}

template <class T>
void expect_same_bits_on_all_ranks(Group& group, DataType type, ReduceOp op, std::size_t count) {
    CounterRandom random(CounterRandom::derive(42, static_cast<std::uint64_t>(group.rank())));
    std::vector<T> values(count);
    for (auto& value : values) {
        const double magnitude = std::exp2(random.uniform() * 20 - 10);
        const double signed_value = random.below(2) == 0 ? magnitude : -magnitude;
        if constexpr (sizeof(T) == 2) {
            narrow(static_cast<float>(signed_value), value);
        } else {
            value = static_cast<T>(signed_value);
        }
    }
    group.allreduce({values.data(), count, type}, op);
    const std::string mine = to_hex(checksum(std::as_bytes(std::span(values))));
    for (const auto& other : group.allgather_strings(mine)) {
        EXPECT_EQ(other, mine) << to_string(op) << " of " << count << " x " << to_string(type);
    }
}

TEST(Allreduce, OfRandomNumbersHasTheSameBitsOnAllRanks) {
    const auto group = session().make_group({.algorithm = "native-pipelined", .segment = Bytes{256u << 10}});
    for (const std::size_t count : {5u, 777u, 300'003u}) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::max}) {
            expect_same_bits_on_all_ranks<float>(*group, DataType::float32, op, count);
        }
        expect_same_bits_on_all_ranks<double>(*group, DataType::float64, ReduceOp::sum, count);
        expect_same_bits_on_all_ranks<Float16>(*group, DataType::float16, ReduceOp::sum, count);
        expect_same_bits_on_all_ranks<BFloat16>(*group, DataType::bfloat16, ReduceOp::average, count);
    }
    const auto whole = session().make_group({.algorithm = "native-blocking"});
    for (const std::size_t count : {5u, 777u, 300'003u}) {
        expect_same_bits_on_all_ranks<float>(*whole, DataType::float32, ReduceOp::sum, count);
    }
}

TEST(Allreduce, MinimumAndMaximumOfNanAreNanWithTheSameBitsOnAllRanks) {
    const auto group = session().make_group({});
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
        for (int source = 0; source < group->size(); ++source) {
            std::vector<float> values(3, static_cast<float>(group->rank()));
            if (group->rank() == source) {
                values[1] = -std::numeric_limits<float>::quiet_NaN();
            }
            group->allreduce(view_of(std::span(values)), op);
            const std::string mine = to_hex(checksum(std::as_bytes(std::span(values))));
            EXPECT_TRUE(std::isnan(values[1]));
            EXPECT_FALSE(std::isnan(values[0]));
            for (const auto& other : group->allgather_strings(mine)) {
                EXPECT_EQ(other, mine);
            }
        }
    }
}

TEST(Broadcast, ReachesAllRanksFromEveryRootInSegments) {
    const auto group = session().make_group({.algorithm = "native-pipelined", .segment = Bytes{1000}, .depth = 4});
    for (int root = 0; root < group->size(); ++root) {
        for (const std::size_t count : {0u, 1u, 999u, 20'001u}) {
            std::vector<std::int32_t> values(count, group->rank() == root ? 0 : -1);
            if (group->rank() == root) {
                std::iota(values.begin(), values.end(), root);
            }
            group->broadcast(view_of(std::span(values)), root);
            std::vector<std::int32_t> expected(count);
            std::iota(expected.begin(), expected.end(), root);
            EXPECT_EQ(values, expected);
        }
    }
    std::vector<float> value(1);
    test::expect_error(ExitCode::usage, "no rank",
                       [&] { group->broadcast(view_of(std::span(value)), group->size()); });
}

TEST(Allgather, PlacesEveryContributionByRankWhateverTheSegments) {
    for (const std::uint64_t segment : {80u, 1000u, 1u << 20}) {
        const auto group = session().make_group({.algorithm = "native-pipelined", .segment = Bytes{segment}, .depth = 3});
        for (const std::size_t count : {0u, 1u, 33u, 301u}) {
            std::vector<double> mine(count);
            std::vector<double> all(count * static_cast<std::size_t>(group->size()), -1);
            std::vector<double> expected;
            for (int rank = 0; rank < group->size(); ++rank) {
                for (std::size_t i = 0; i < count; ++i) {
                    expected.push_back(rank * 10'000.0 + static_cast<double>(i));
                }
            }
            std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(count) * group->rank(), count,
                        mine.begin());
            group->start_allgather(view_of(std::span(mine)), view_of(std::span(all))).wait();
            EXPECT_EQ(all, expected);
        }
    }
    const auto group = session().make_group({});
    std::vector<float> one(1);
    std::vector<float> wrong(static_cast<std::size_t>(group->size()) + 1);
    test::expect_error(ExitCode::usage, "needs one buffer of",
                       [&] { group->start_allgather(view_of(std::span(one)), view_of(std::span(wrong))); });
}

TEST(Strings, OfAnyLengthAreGatheredAndBroadcast) {
    const auto group = session().make_group({});
    std::vector<std::string> expected;
    for (int rank = 0; rank < group->size(); ++rank) {
        expected.push_back(std::string(static_cast<std::size_t>(rank) * 1000, static_cast<char>('a' + rank)));
    }
    EXPECT_EQ(group->allgather_strings(expected[static_cast<std::size_t>(group->rank())]), expected);
    EXPECT_EQ(group->allgather_strings(""), std::vector<std::string>(expected.size()));
    const int root = group->size() - 1;
    EXPECT_EQ(group->broadcast_string("from rank " + std::to_string(group->rank()), root),
              "from rank " + std::to_string(root));
}

TEST(Barrier, IsPassedOnlyWhenAllRanksHaveCome) {
    const auto group = session().make_group({});
    const Request barrier = group->start_barrier();
    barrier.wait();
    EXPECT_TRUE(barrier.test());
    group->barrier();
}

TEST(Split, FormsGroupsByColorOrderedByKey) {
    const auto group = session().make_group({});
    const auto half = group->split(group->rank() % 2, -group->rank());
    ASSERT_NE(half, nullptr);
    const int members = group->rank() % 2 == 0 ? (group->size() + 1) / 2 : group->size() / 2;
    EXPECT_EQ(half->size(), members);
    EXPECT_EQ(half->rank(), members - 1 - group->rank() / 2) << "the largest key is the last rank";
    std::vector<std::int64_t> value{group->rank()};
    half->allreduce(view_of(std::span(value)), ReduceOp::sum);
    std::int64_t expected = 0;
    for (int rank = group->rank() % 2; rank < group->size(); rank += 2) {
        expected += rank;
    }
    EXPECT_EQ(value[0], expected);

    const auto none = group->split(group->rank() == 0 ? 0 : -1, 0);
    EXPECT_EQ(none != nullptr, group->rank() == 0);
}

TEST(Memory, IsAlignedAndZero) {
    const auto group = session().make_group({});
    for (const std::size_t bytes : {0u, 1u, 65u, 100'000u}) {
        const auto memory = group->allocate(bytes);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
        const auto* content = static_cast<const std::uint8_t*>(memory.get());
        EXPECT_TRUE(std::all_of(content, content + bytes, [](std::uint8_t byte) { return byte == 0; }));
    }
}

TEST(Device, MemoryIsRefused) {
    const auto group = session().make_group({});
    float value = 0;
    test::expect_error(ExitCode::usage, "host memory only", [&] {
        group->start_allreduce({&value, 1, DataType::float32, MemoryKind::device}, ReduceOp::sum);
    });
}

TEST(Session, KnowsItsRanksAndNamesItsLibrary) {
    EXPECT_EQ(session().nodes(), 1);
    EXPECT_EQ(session().local_rank(), session().rank());
    EXPECT_EQ(session().local_size(), session().size());
    EXPECT_GT(session().cores_per_rank(), 0);
    EXPECT_TRUE(mpi_library_version().starts_with("MPICH 4")) << mpi_library_version();
    const std::string text = session().make_group({.algorithm = "native-pipelined", .segment = Bytes{1u << 20}, .depth = 2})->description();
    EXPECT_NE(text.find("on 1 node, native-pipelined (segment 1M, depth 2), poll "), std::string::npos)
        << text;
}

}  // namespace
}  // namespace mastic::comm
