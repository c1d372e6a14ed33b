// Arithmetic of reductions on host memory, vectorised for the CPU that it runs on.
#pragma once

#include <cstddef>

#include <mastic/comm/group.hpp>

namespace mastic::comm {

// Throws Error(usage) if `op` has no meaning for `type` (sum of booleans).
void require_supported(DataType type, ReduceOp op);

// into[i] = into[i] op from[i]; `average` adds. The operands may be swapped without changing a bit: min and max give
// one quiet NaN if either is NaN, and -0 is less than +0. The ranges do not overlap.
using ReduceFunction = void (*)(void* into, const void* from, std::size_t count);
ReduceFunction find_reduce(DataType type, ReduceOp op);

// a[i] = b[i] = a[i] op b[i].
using ReduceBothFunction = void (*)(void* a, void* b, std::size_t count);
ReduceBothFunction find_reduce_both(DataType type, ReduceOp op);

// Makes the sum an average: multiplies by 1 / ranks; integers are divided, without the remainder.
void scale_to_average(BufferView sum, int ranks);

}  // namespace mastic::comm
