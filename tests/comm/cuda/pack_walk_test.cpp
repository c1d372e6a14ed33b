// The geometry of the kernels, and the kernels' bodies run by as many "threads" on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <mastic/comm/cuda/kernel_bodies.hpp>
#include <mastic/comm/detail/visit_element.hpp>
#include <mastic/comm/detail/visit_half.hpp>
#include <mastic/comm/reduction.hpp>
#include <mastic/comm/wire.hpp>

namespace mastic::comm::cuda {
namespace {

constexpr std::size_t counts[] = {0, 1, 3, 7, 8, 9, 16, 31, 100, 1000, 4099};

TEST(PackRange, AlignsTheFirstPackInEveryOperand) {
    for (const std::size_t count : counts) {
        for (std::uintptr_t offset = 0; offset < 16; offset += 4) {
            const std::vector<Operand> operands = {{4096 + offset, 4}, {8192 + offset, 4}};
            const PackRange range = pack_range(count, 4, operands);
            EXPECT_EQ(range.tail, range.head + range.packs * 4);
            EXPECT_LE(range.tail, count);
            EXPECT_LT(count - range.tail, 4u);
            EXPECT_LE(range.head, 3u);
            if (range.packs > 0) {
                EXPECT_EQ((4096 + offset + range.head * 4) % word_bytes, 0u);
            }
        }
    }
}

TEST(PackRange, WithoutACommonAlignmentEverythingComesOneByOne) {
    const std::vector<Operand> operands = {{4096, 4}, {8196, 4}};
    const PackRange range = pack_range(1000, 4, operands);
    EXPECT_EQ(range.packs, 0u);
    EXPECT_EQ(range.head, 1000u);
    EXPECT_EQ(range.tail, 1000u);
}

TEST(PackRange, OperandsOfDifferentWidthsAlignTogether) {
    // float32 at 4 bytes before a word's begin, 16-bit numbers 2 before one.
    const std::vector<Operand> operands = {{4096 - 4, 4}, {8192 - 2, 2}};
    const PackRange range = pack_range(100, 8, operands);
    EXPECT_EQ(range.head, 1u);
    EXPECT_EQ(range.packs, 12u);
}

TEST(Grid, HasWorkForEachBlockAndNoMoreThanTheGpuHolds) {
    for (const std::size_t packs : {0ul, 1ul, 255ul, 256ul, 257ul, 100'000ul, 1ul << 40}) {
        for (const int multiprocessors : {0, 1, 108, 132}) {
            const Grid grid = grid_for({packs * 4, 0, packs, packs * 4}, multiprocessors);
            EXPECT_GE(grid.blocks, 1u);
            EXPECT_EQ(grid.threads, 256u);
            EXPECT_LE(grid.blocks, static_cast<unsigned>(std::max(multiprocessors, 1)) * 8);
            EXPECT_TRUE(grid.blocks == 1 || (grid.blocks - 1) * std::size_t{256} < packs);
        }
    }
}

// Counts what comes.
struct Visits {
    std::vector<int>* packs;
    std::vector<int>* elements;
    void pack(std::size_t index) const { ++packs->at(index); }
    void element(std::size_t index) const { ++elements->at(index); }
};

TEST(Walk, ComesToEverythingOnce) {
    for (const std::size_t threads : {1u, 2u, 7u, 256u, 1000u}) {
        for (const std::size_t count : counts) {
            const std::vector<Operand> operands = {{4, 2}};
            const PackRange range = pack_range(count, 8, operands);
            std::vector<int> packs(range.packs);
            std::vector<int> elements(count);
            for (std::size_t thread = 0; thread < threads; ++thread) {
                walk(Visits{&packs, &elements}, range, thread, threads);
            }
            for (std::size_t pack = 0; pack < range.packs; ++pack) {
                ASSERT_EQ(packs[pack], 1);
            }
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(elements[i], i < range.head || i >= range.tail ? 1 : 0);
            }
        }
    }
}

// As a kernel runs it.
template <class Body>
void run(const Body& body) {
    const Grid grid = grid_for(body.range, 2);
    const std::size_t threads = std::size_t{grid.blocks} * grid.threads;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        walk(body, body.range, thread, threads);
    }
}

// Any bits: for floating-point types that includes infinities, subnormal numbers and many NaN.
std::vector<std::byte> random_bits(std::size_t bytes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> bits(bytes);
    for (std::byte& byte : bits) {
        byte = static_cast<std::byte>(random());
    }
    return bits;
}

// Buffers begin `offset` bytes behind a multiple of 16.
class Bodies : public testing::TestWithParam<std::size_t> {
  protected:
    struct alignas(word_bytes) Block {
        std::byte bytes[word_bytes];
    };
    std::byte* buffer(std::vector<Block>& blocks, const std::vector<std::byte>& content) const {
        blocks.resize(content.size() / word_bytes + 3);
        std::byte* const begin = blocks.data()->bytes + GetParam();
        std::memcpy(begin, content.data(), content.size());
        return begin;
    }
};

TEST_P(Bodies, ReduceWithTheBitsOfTheHost) {
    for (const DataType type :
         {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16, DataType::int8,
          DataType::uint8, DataType::int16, DataType::int32, DataType::int64}) {
        if (GetParam() % size_of(type) != 0) {
            continue;
        }
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
            for (const std::size_t count : counts) {
                const auto from = random_bits(count * size_of(type), 1);
                auto expected = random_bits(count * size_of(type), 2);
                std::vector<Block> into_memory;
                std::vector<Block> from_memory;
                std::byte* const into = buffer(into_memory, expected);
                std::byte* const other = buffer(from_memory, from);
                find_reduce(type, op)(expected.data(), from.data(), count);
                detail::visit_operation(type, op, [&](auto element, auto operation) {
                    using Element = decltype(element);
                    run(ReduceBody<Element, decltype(operation)>(
                        reinterpret_cast<Element*>(into), reinterpret_cast<const Element*>(other), count));
                });
                ASSERT_TRUE(count == 0 || std::memcmp(into, expected.data(), expected.size()) == 0)
                    << to_string(op) << " of " << count << " x " << to_string(type);
            }
        }
    }
}

TEST_P(Bodies, AverageWithTheBitsOfTheHost) {
    for (const DataType type : {DataType::float32, DataType::float64, DataType::float16, DataType::int32}) {
        if (GetParam() % size_of(type) != 0) {
            continue;
        }
        for (const std::size_t count : counts) {
            auto expected = random_bits(count * size_of(type), 3);
            std::vector<Block> memory;
            std::byte* const sum = buffer(memory, expected);
            scale_to_average({expected.data(), count, type}, 3);
            detail::visit_element(type, [&](auto element) {
                using Element = decltype(element);
                run(AverageBody<Element>(reinterpret_cast<Element*>(sum), count, 3));
            });
            ASSERT_TRUE(count == 0 || std::memcmp(sum, expected.data(), expected.size()) == 0)
                << to_string(type);
        }
    }
}

TEST_P(Bodies, PackAndUnpackWithTheBitsOfTheHost) {
    if (GetParam() % sizeof(float) != 0) {
        return;  // float32 has no such address
    }
    for (const Wire wire : {Wire::bfloat16, Wire::float16}) {
        for (const std::size_t count : counts) {
            std::vector<float> expected(count);
            const auto bits = random_bits(count * sizeof(float), 4);
            std::memcpy(expected.data(), bits.data(), bits.size());
            std::vector<std::uint16_t> expected_out(count);
            std::vector<Block> wide_memory;
            std::vector<Block> narrow_memory;
            auto* const wide = reinterpret_cast<float*>(buffer(wide_memory, bits));
            auto* const narrow =
                reinterpret_cast<std::uint16_t*>(buffer(narrow_memory, random_bits(2 * count, 5)));
            const auto same = [&] {
                return count == 0 || (std::memcmp(wide, expected.data(), 4 * count) == 0 &&
                                      std::memcmp(narrow, expected_out.data(), 2 * count) == 0);
            };
            encode(wire, expected.data(), expected_out.data(), count);
            detail::visit_half(wire, [&](auto half) {
                run(WireBody<decltype(half), detail::EncodeStep>(wide, narrow, count));
            });
            ASSERT_TRUE(same()) << "encode " << count << " " << to_string(wire);
            decode_add(wire, expected_out.data(), expected.data(), count);
            detail::visit_half(wire, [&](auto half) {
                run(WireBody<decltype(half), detail::DecodeAddStep>(wide, narrow, count));
            });
            ASSERT_TRUE(same()) << "decode_add " << count << " " << to_string(wire);
            decode(wire, expected_out.data(), expected.data(), count);
            detail::visit_half(wire, [&](auto half) {
                run(WireBody<decltype(half), detail::DecodeStep>(wide, narrow, count));
            });
            ASSERT_TRUE(same()) << "decode " << count << " " << to_string(wire);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Offset, Bodies, testing::Values(0, 1, 2, 4, 8, 12));

}  // namespace
}  // namespace mastic::comm::cuda
