#include "comm/cuda/gpu_fixture.hpp"

#include <random>

#include <mastic/comm/cuda/version.hpp>

namespace mastic::test {

void GpuTest::SetUp() {
    if (comm::cuda_devices() == 0) {
        GTEST_SKIP() << "no GPU here (CUDA " << comm::cuda_version() << ")";
    }
    device_ = comm::open_cuda_device(0);
    stream_ = device_->make_stream();
}

void GpuTest::wait() {
    const auto event = stream_->record();
    stream_->drain();
    EXPECT_TRUE(event->reached());
}

GpuTest::Content GpuTest::random_bits(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Content bytes(count);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    return bytes;
}

std::shared_ptr<void> GpuTest::to_gpu(const Content& bytes, std::size_t offset) {
    auto memory = device_->allocate(bytes.size() + offset);
    stream_->copy(at(memory, offset), bytes.data(), bytes.size());
    wait();
    return memory;
}

GpuTest::Content GpuTest::from_gpu_memory(const std::shared_ptr<void>& memory, std::size_t offset,
                                        std::size_t count) {
    Content bytes(count);
    stream_->copy(bytes.data(), at(memory, offset), count);
    wait();
    return bytes;
}

}  // namespace mastic::test
