// Staging through pinned host memory on a GPU. Skipped where there is none.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include <mastic/comm/device/staging.hpp>
#include <mastic/comm/sequence.hpp>

#include "comm/cuda/gpu_fixture.hpp"

namespace mastic::comm {
namespace {

class CudaDevice : public test::GpuTest {};

TEST_F(CudaDevice, HasANameAndAUuid) {
    EXPECT_FALSE(device().name().empty());
    EXPECT_EQ(device().uuid().size(), 16u);
    EXPECT_EQ(device().uuid(), open_cuda_device(0)->uuid());
}

TEST_F(CudaDevice, BuffersPassThroughPinnedMemoryInChunks) {
    constexpr std::size_t count = 3'000'001;
    const auto allocate = [](std::size_t bytes) {
        return std::shared_ptr<void>(std::aligned_alloc(4096, bytes), std::free);
    };
    Staging staging(open_cuda_device(0), {.chunk = Bytes{1u << 20}, .depth = 3}, allocate);
    std::vector<std::byte> content = random_bits(count, 1);
    const auto gpu = to_gpu(content, 0);
    const auto operation = staging.in_chunks(
        {gpu.get(), count, DataType::uint8, MemoryKind::device}, {}, [](const BufferView& host) {
            return make_call([host] {
                auto* const bytes = static_cast<std::uint8_t*>(host.data);
                for (std::size_t i = 0; i < host.count; ++i) {
                    bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 0x5A);
                }
            });
        });
    operation->start();
    while (operation->step() != Step::complete) {
    }
    for (std::byte& byte : content) {
        byte ^= std::byte{0x5A};
    }
    EXPECT_EQ(from_gpu_memory(gpu, 0, count), content);
}

}  // namespace
}  // namespace mastic::comm
