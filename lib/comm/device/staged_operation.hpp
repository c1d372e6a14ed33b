// An operation on device memory over transports that know host memory only, in chunks: while one chunk is reduced on the host,
// the next ones are copied to it, and those before it back to the device. The two directions have a stream each.
//
//   device to host   | 0 | 1 | 2 | 3 | ...
//   on the host          |  0  |  1  |  2  | ...
//   host to device              | 0 |   | 1 | ...
#pragma once

#include <memory>
#include <vector>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/operation.hpp>

namespace mastic::comm {

struct DeviceCopy {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;  // 0: nothing to copy
};

struct StagedChunk {
    DeviceCopy fetch;                      // to the host
    std::unique_ptr<Operation> operation;  // there
    DeviceCopy put;                        // back
};

struct StagedWork {
    std::vector<StagedChunk> chunks{};
    std::vector<std::shared_ptr<void>>
        slots{};  // host memory; chunk i has slot i modulo their number to itself
    std::vector<std::unique_ptr<DeviceEvent>> ready{};  // from here on the device memory may be used
    std::shared_ptr<CopyStream> to_host;
    std::shared_ptr<CopyStream> to_device;
};

// The chunks' operations run one after the other. When step() throws, or the operation is destroyed, no copy is in flight.
std::unique_ptr<Operation> make_staged_operation(StagedWork work);

}  // namespace mastic::comm
