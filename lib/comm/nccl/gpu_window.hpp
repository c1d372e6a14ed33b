// Sums and broadcasts among the ranks that share a GPU, in its own memory: each rank has a window there, which the others open
// (CUDA IPC). Rank 0 of the group leads. What a rank wrote into its window is done before it says so on the host.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::comm {

class GpuWindow {
  public:
    // Collective. Null on all ranks if one of them cannot open a window of another; that is logged.
    static std::unique_ptr<GpuWindow> create(Group& local, std::shared_ptr<Device> device, Bytes bytes);

    // The leader's buffer becomes the reduction of all; `average` adds. Not collective until it is driven.
    std::unique_ptr<Operation> make_reduce(const BufferView& buffer, ReduceOp op, CopyStream& stream);
    // All get the leader's buffer.
    std::unique_ptr<Operation> make_broadcast(const BufferView& buffer, CopyStream& stream);

  private:
    GpuWindow(Group& local, std::shared_ptr<Device> device, Bytes bytes);
    bool leads() const;
    std::unique_ptr<Operation> barrier();

    Group& local_;
    std::shared_ptr<Device> device_;
    Bytes bytes_;
    std::shared_ptr<void> own_;
    std::vector<std::shared_ptr<void>> windows_;  // by rank
};

}  // namespace mastic::comm
