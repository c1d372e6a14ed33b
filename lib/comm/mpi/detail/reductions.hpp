// What MPI needs to know about our types and operations.
#pragma once

#include <array>

#include <mpi.h>

#include <mastic/comm/group.hpp>

namespace mastic::comm::detail {

// float16 and bfloat16 travel as 16-bit patterns.
MPI_Datatype mpi_type(DataType type);

// The operations that MPI lacks: float16 and bfloat16, which it does not know, and minimum and maximum of
// floating-point numbers, because MPI's depend on the order of their operands when one is NaN, so that ranks
// may end with different bits.
class Reductions {
  public:
    Reductions();                                   // MPI must have been started
    MPI_Op find(DataType type, ReduceOp op) const;  // `average` is the sum

  private:
    enum Kind { sum, min, max, kinds };
    enum Owned { float16, bfloat16, float32, float64, owned };
    std::array<std::array<MPI_Op, kinds>, owned> operations_;
};

}  // namespace mastic::comm::detail
