// Kernels on a GPU against the host's arithmetic, bit by bit. Skipped where there is none.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <mastic/comm/cuda/device.hpp>
#include <mastic/comm/cuda/kernels.hpp>
#include <mastic/comm/reduction.hpp>

#include "comm/cuda/gpu_fixture.hpp"

namespace mastic::comm {
namespace {

using test::GpuTest;

constexpr std::size_t counts[] = {1, 7, 8, 1000, 100'003, 5'000'000};
constexpr std::size_t offsets[] = {0, 8};  // bytes behind an aligned address

class Kernels : public GpuTest {};

TEST_F(Kernels, ReduceWithTheBitsOfTheHost) {
    for (const DataType type :
         {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16, DataType::int8,
          DataType::uint8, DataType::int16, DataType::int32, DataType::int64}) {
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
            for (const std::size_t count : counts) {
                for (const std::size_t offset : offsets) {
                    const std::size_t bytes = count * size_of(type);
                    std::vector<std::byte> expected = random_bits(bytes, count);
                    const std::vector<std::byte> from = random_bits(bytes, count + 1);
                    const auto into_gpu = to_gpu(expected, offset);
                    const auto from_gpu = to_gpu(from, 0);
                    device().reduce(stream(), {at(into_gpu, offset), count, type, MemoryKind::device},
                                    from_gpu.get(), op);
                    find_reduce(type, op)(expected.data(), from.data(), count);
                    ASSERT_EQ(from_gpu_memory(into_gpu, offset, bytes), expected)
                        << to_string(op) << " of " << count << " x " << to_string(type);
                }
            }
        }
    }
}

TEST_F(Kernels, AverageWithTheBitsOfTheHost) {
    for (const DataType type : {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                                DataType::int32, DataType::int64}) {
        for (const int ranks : {2, 3, 7}) {
            std::vector<std::byte> expected = random_bits(100'003 * size_of(type), 9);
            const auto gpu = to_gpu(expected, 0);
            device().scale_to_average(stream(), {gpu.get(), 100'003, type, MemoryKind::device}, ranks);
            scale_to_average({expected.data(), 100'003, type}, ranks);
            ASSERT_EQ(from_gpu_memory(gpu, 0, expected.size()), expected) << to_string(type);
        }
    }
}

TEST_F(Kernels, PackAndUnpackWithTheBitsOfTheHost) {
    for (const Wire wire : {Wire::bfloat16, Wire::float16}) {
        for (const std::size_t count : counts) {
            std::vector<std::byte> wide = random_bits(4 * count, 11);
            std::vector<std::byte> narrow(2 * count);
            auto* const floats = reinterpret_cast<float*>(wide.data());
            auto* const halves = reinterpret_cast<std::uint16_t*>(narrow.data());
            const auto wide_gpu = to_gpu(wide, 0);
            const auto narrow_gpu = to_gpu(narrow, 0);
            auto* const gpu_floats = static_cast<float*>(wide_gpu.get());
            auto* const gpu_halves = static_cast<std::uint16_t*>(narrow_gpu.get());
            encode(wire, floats, halves, count);
            cuda::encode(wire, gpu_floats, gpu_halves, count, stream().native());
            ASSERT_EQ(from_gpu_memory(narrow_gpu, 0, narrow.size()), narrow);
            ASSERT_EQ(from_gpu_memory(wide_gpu, 0, wide.size()), wide);
            decode_add(wire, halves, floats, count);
            cuda::decode_add(wire, gpu_halves, gpu_floats, count, stream().native());
            ASSERT_EQ(from_gpu_memory(wide_gpu, 0, wide.size()), wide);
            decode(wire, halves, floats, count);
            cuda::decode(wire, gpu_halves, gpu_floats, count, stream().native());
            ASSERT_EQ(from_gpu_memory(wide_gpu, 0, wide.size()), wide);
        }
    }
}

}  // namespace
}  // namespace mastic::comm
