// Do all ranks mean the same operations? MPI adds up buffers of different layers without a word; so before
// the first reduction, and after every change of membership, ranks compare what they are going to start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mastic/comm/group.hpp>

namespace mastic::comm {

// One operation of the list; its place in the list is its order.
struct OperationFingerprint {
    std::string name;  // bucket or tensor
    std::size_t count = 0;
    DataType type = DataType::float32;
    ReduceOp op = ReduceOp::sum;
};

// "layer1.weight: average of 1000 x float32 [0123456789abcdef]"
std::string to_string(const OperationFingerprint& operation);
std::uint64_t hash_of(const OperationFingerprint& operation);
std::uint64_t hash_of(std::span<const OperationFingerprint> operations);  // order counts

// Collective. Costs one reduction of 16 bytes if all agree. Else every rank throws AgreedError(collective) that
// names the first operation that differs, the lowest rank that differs from the majority, and what both want to start.
void check_agreement(Group& group, std::span<const OperationFingerprint> operations);

// The message of that error from the lists of all ranks, each a list of to_string(); empty if they agree.
std::string describe_disagreement(const std::vector<std::vector<std::string>>& lists);

}  // namespace mastic::comm
