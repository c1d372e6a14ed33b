// Small operations that larger ones on devices are made of (see sequence.hpp).
#pragma once

#include <functional>
#include <memory>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/operation.hpp>

namespace mastic::comm {

// Calls `enqueue`, which puts work into `stream`, and is complete when that work is done.
std::unique_ptr<Operation> make_stream_step(CopyStream& stream, std::function<void()> enqueue);
// Complete when `event` is reached.
std::unique_ptr<Operation> make_event_step(std::unique_ptr<DeviceEvent> event);

// An operation of another group: complete with the request that `begin` starts.
std::unique_ptr<Operation> make_request_step(std::function<Request()> begin);

}  // namespace mastic::comm
