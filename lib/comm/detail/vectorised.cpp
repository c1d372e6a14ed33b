#include <mastic/comm/detail/vectorised.hpp>

#include <algorithm>
#include <atomic>

namespace mastic::comm::detail {

namespace {

std::atomic<InstructionSet> limit = InstructionSet::avx512;

InstructionSet find_best() {
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return InstructionSet::avx512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return InstructionSet::avx2;
    }
#endif
    return InstructionSet::baseline;
}

}  // namespace

InstructionSet instruction_set() {
    static const InstructionSet best = find_best();
    return std::min(best, limit.load(std::memory_order_relaxed));
}

void limit_instruction_set(InstructionSet most) {
    limit = most;
}

}  // namespace mastic::comm::detail
