// Tests that need a GPU: the first one of this process. Where there is none they are skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/cuda/device.hpp>

namespace mastic::test {

class GpuTest : public testing::Test {
  protected:
    void SetUp() override;

    comm::Device& device() { return *device_; }
    comm::CopyStream& stream() { return *stream_; }
    void wait();  // until the stream is empty; throws what failed

    using Content = std::vector<std::byte>;
    static Content random_bits(std::size_t count, std::uint64_t seed);
    // A copy in memory of the GPU, `offset` bytes behind its begin.
    std::shared_ptr<void> to_gpu(const Content& bytes, std::size_t offset);
    Content from_gpu_memory(const std::shared_ptr<void>& memory, std::size_t offset, std::size_t bytes);
    static std::byte* at(const std::shared_ptr<void>& memory, std::size_t offset) {
        return static_cast<std::byte*>(memory.get()) + offset;
    }

  private:
    std::shared_ptr<comm::Device> device_;
    std::unique_ptr<comm::CopyStream> stream_;
};

}  // namespace mastic::test
