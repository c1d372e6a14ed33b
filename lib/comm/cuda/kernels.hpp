// Arithmetic of reductions on device memory: what reduction.hpp and wire.hpp do on the host, with the same bits. Each puts
// one kernel of the current device into `stream` (a cudaStream_t; null: the default stream) and returns at once. Throws
// Error(environment) if the GPU does not take it, or if mastic was built without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include <mastic/comm/group.hpp>
#include <mastic/comm/wire.hpp>

namespace mastic::comm::cuda {

// into[i] = into[i] op from[i]; `average` adds. `from` has the count and type of `into`, and does not overlap it.
void reduce(const BufferView& into, const void* from, ReduceOp op, void* stream);
void scale_to_average(const BufferView& sum, int ranks, void* stream);

// Not for Wire::exact. Encoding also rounds `values` to what was encoded.
void encode(Wire wire, float* values, std::uint16_t* out, std::size_t count, void* stream);
void decode(Wire wire, const std::uint16_t* in, float* out, std::size_t count, void* stream);
// sum[i] += in[i].
void decode_add(Wire wire, const std::uint16_t* in, float* sum, std::size_t count, void* stream);

}  // namespace mastic::comm::cuda
