// A tensor as the engine sees it.
#pragma once

#include <torch/types.h>

#include <mastic/comm/group.hpp>

namespace mastic::gradient {

// `tensor` is contiguous, and of `type`. On a device it is used in the order of its default stream, which is where torch works
// unless it is told otherwise.
inline comm::BufferView buffer_view(const torch::Tensor& tensor, DataType type) {
    return {.data = tensor.data_ptr(),
            .count = static_cast<std::size_t>(tensor.numel()),
            .type = type,
            .memory = tensor.device().is_cpu() ? comm::MemoryKind::host : comm::MemoryKind::device};
}

}  // namespace mastic::gradient
