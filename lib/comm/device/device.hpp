// What the engine asks of an accelerator: streams that copy and add, events, memory. CUDA's is in cuda/; tests have one of host
// memory. Nothing here waits for the device, but drain() and destructors.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <mastic/comm/group.hpp>

namespace mastic::comm {

// A place in a stream.
class DeviceEvent {
  public:
    virtual ~DeviceEvent() = default;
    // Everything before it is done. Throws Error(environment) if something before it failed.
    virtual bool reached() = 0;
};

// Work that the device does one after the other. One thread at a time uses it.
class CopyStream {
  public:
    virtual ~CopyStream() = default;  // drains

    // Between device memory and pinned host memory, or within either. Both must stay until an event behind it is reached.
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    virtual std::unique_ptr<DeviceEvent> record() = 0;  // behind everything so far
    // What is put in from now on comes after what is in `stream` (BufferView::stream) now.
    virtual void follow(void* stream) = 0;
    // Waits until nothing is in flight, whether that went well or not.
    virtual void drain() noexcept = 0;
    virtual void* native() = 0;  // a cudaStream_t
};

class Device {
  public:
    virtual ~Device() = default;

    virtual std::string name() const = 0;  // "NVIDIA H100 80GB HBM3"
    virtual std::string uuid() const = 0;  // the same in all processes that use this device

    virtual std::unique_ptr<CopyStream> make_stream() = 0;
    // Behind what the owner of `stream` (BufferView::stream) has put into it until now.
    virtual std::unique_ptr<DeviceEvent> record(void* stream) = 0;
    // into[i] = into[i] op from[i] and sum[i] /= ranks on device memory, with the bits of reduction.hpp.
    virtual void reduce(CopyStream& stream, const BufferView& into, const void* from, ReduceOp op) = 0;
    virtual void scale_to_average(CopyStream& stream, const BufferView& sum, int ranks) = 0;

    virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;  // on the device
    // While the result lives, `memory` of the host is pinned: copied at full speed, beside other work.
    virtual std::shared_ptr<void> pin(void* memory, std::size_t bytes) = 0;

    // Memory from allocate() in another process on the same device: a ticket for it, and the memory behind a ticket. Throw
    // Error(environment) where processes cannot see one another's memory (some containers).
    virtual std::string share(void* memory) = 0;
    virtual std::shared_ptr<void> open_shared(const std::string& ticket) = 0;
};

}  // namespace mastic::comm
