// Short words for the steps of a plan, and arithmetic modulo the number of ranks.
#pragma once

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm::detail {

inline PlanStep send_to(int peer, int first_block, int block_count = 1) {
    return {Action::send, peer, first_block, block_count};
}
inline PlanStep receive_from(int peer, int first_block, int block_count = 1) {
    return {Action::receive, peer, first_block, block_count};
}
inline PlanStep reduce_from(int peer, int first_block, int block_count = 1) {
    return {Action::receive_reduce, peer, first_block, block_count};
}

// 0 to size - 1, also of a negative number.
inline int wrap(int number, int size) {
    return (number % size + size) % size;
}

}  // namespace mastic::comm::detail
