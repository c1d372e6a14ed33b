// For tests of vectorised loops: each of the versions that this machine can run.
#pragma once

#include <mastic/comm/detail/vectorised.hpp>

namespace mastic::test {

inline constexpr comm::detail::InstructionSet instruction_sets[] = {comm::detail::InstructionSet::baseline,
                                                                    comm::detail::InstructionSet::avx2,
                                                                    comm::detail::InstructionSet::avx512};

inline const char* to_string(comm::detail::InstructionSet set) {
    const char* names[] = {"Baseline", "Avx2", "Avx512"};
    return names[static_cast<int>(set)];
}

// While it lives, `set` runs, if `available`.
class OnInstructionSet {
  public:
    explicit OnInstructionSet(comm::detail::InstructionSet set) : set_(set) {
        comm::detail::limit_instruction_set(set);
    }
    ~OnInstructionSet() { comm::detail::limit_instruction_set(comm::detail::InstructionSet::avx512); }
    OnInstructionSet(const OnInstructionSet&) = delete;
    OnInstructionSet& operator=(const OnInstructionSet&) = delete;
    bool available() const { return comm::detail::instruction_set() == set_; }

  private:
    comm::detail::InstructionSet set_;
};

}  // namespace mastic::test
