// What MPI's built-in types and operations are to mastic's arithmetic.
#pragma once

#include <cstddef>
#include <optional>

#include <mpi.h>

#include <mastic/comm/group.hpp>

namespace mastic::interposer {

struct Element {
    DataType type;
    std::size_t per_item;  // a complex number is two
};

// Bytes of `count` items of a built-in type that has arithmetic here; nothing for all others.
std::optional<std::size_t> size_of_built_in(MPI_Datatype type);

// Nothing: mastic does not reduce this with the result that MPI prescribes. Unsigned integers add as signed ones do; their
// minimum and maximum need uint8. Complex numbers add only.
std::optional<Element> find_element(MPI_Datatype type, MPI_Op op);
std::optional<comm::ReduceOp> find_op(MPI_Op op);

}  // namespace mastic::interposer
