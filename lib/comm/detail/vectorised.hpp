// One loop, compiled for several instruction sets, and the choice among them for the CPU that the process runs on.
//
// A plain function pointer instead of an ifunc (target_clones): sanitizers cannot run ifunc resolvers. Instruction sets
// are attributes of functions instead of compiler flags of files: with flags, an inline function that several
// files share may be linked in the version that this CPU does not have.
#pragma once

namespace mastic::comm::detail {

enum class InstructionSet { baseline, avx2, avx512 };

InstructionSet instruction_set();  // the best that this CPU has, and that the limit allows
// For tests of the others: from now on, none better than `most`.
void limit_instruction_set(InstructionSet most);

// Vectorised<loop>::choose() is `loop` for this CPU. `loop` is always_inline, as is what it calls, so that each
// version is compiled as a whole for its instruction set.
template <auto Loop>
struct Vectorised;

template <class... Arguments, void (*Loop)(Arguments...)>
struct Vectorised<Loop> {
    using Function = void (*)(Arguments...);

    [[gnu::flatten]] static void baseline(Arguments... arguments) { Loop(arguments...); }
#ifdef __x86_64__
    [[gnu::flatten, gnu::target("avx2")]] static void avx2(Arguments... arguments) {
        Loop(arguments...);
    }
    [[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]] static void
    avx512(Arguments... arguments) {
        Loop(arguments...);
    }
#endif

    static Function choose() {
#ifdef __x86_64__
        switch (instruction_set()) {
            case InstructionSet::avx512:
                return avx512;
            case InstructionSet::avx2:
                return avx2;
            case InstructionSet::baseline:
                break;
        }
#endif
        return baseline;
    }
};

}  // namespace mastic::comm::detail
