// How a rank reads a peer's buffer on the same node (see shm/shm_node.hpp).
#pragma once

#include <span>
#include <string_view>

namespace mastic::comm {

enum class ShmMethod { automatic, one_shot, direct, single_copy, copy };

struct ShmMethodName {
    ShmMethod method;
    const char* name;
    const char* description;
};
std::span<const ShmMethodName> shm_methods();
// Null: no method of this name.
const ShmMethodName* find_shm_method(std::string_view name);

}  // namespace mastic::comm
