// Contributions whose reduction is exactly known in every type, float16 included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mastic/comm/group.hpp>

namespace mastic::test {

bool is_supported(DataType type, comm::ReduceOp op);
// What `rank` contributes: small integers, different at each place.
std::vector<std::byte> contribution(DataType type, std::size_t count, int rank);
std::vector<std::byte> reduction_of(DataType type, std::size_t count, int ranks, comm::ReduceOp op);
// Empty if the values are as expected, else the first that is not.
std::string first_difference(const std::byte* values, const std::vector<std::byte>& expected, DataType type);

}  // namespace mastic::test
