// Which of OpenBLAS's kernel sets ("cores") this process uses. OpenBLAS 0.3.21 takes a CPU it does not know for one of
// 2004 (Prescott) and runs at a seventh of the speed. It reads OPENBLAS_CORETYPE, but only while it is loaded. So the core
// is chosen from the CPU's features, put into the environment, and OpenBLAS made to choose again: by its own functions
// (0.04 ms; results and speed measured equal to a fresh start), or, where it lacks them or does not obey, by starting the
// program again (a second load of libtorch: 0.3 s). Then a product is proven.
//
// Environment variables: OPENBLAS_CORETYPE (the core; if the user or the site has set it, it stays),
// OPENBLAS_L2_SIZE (KiB; set where the CPU reports none), MASTIC_BLAS_CORE (ours: what was tried, see
// BlasTrail).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mastic/core/environment.hpp>
#include <mastic/job/blas_proof.hpp>
#include <mastic/job/cpu_features.hpp>

namespace mastic::job {

// What earlier starts of this program have found out, passed on in MASTIC_BLAS_CORE as
// "OWN;CORE=REASON;CORE=REASON".
struct BlasTrail {
    std::string own_core;  // what OpenBLAS takes if nobody asks
    std::vector<std::pair<std::string, std::string>>
        rejected;  // core and why: {"SkylakeX", "crashed (signal 4)"}

    std::string text() const;
    static std::optional<BlasTrail> parse(std::string_view text);
};

struct BlasCore {
    std::string name;    // "SkylakeX"; empty: nothing (left) to choose
    std::string reason;  // "chosen from AVX512", "set by you", "left to OpenBLAS"
    bool set_by_user = false;
};

// The cores that this CPU can run, fastest first; none on other processors than x86. SkylakeX was measured
// faster than Cooperlake (148 and 136 GFLOP/s on Intel; 250 and 244 on Zen 5) and Haswell at least as fast as
// Zen.
std::vector<BlasCore> blas_core_candidates(const CpuFeatures& cpu);

// The user's or the site's choice, else the first candidate that the trail in the environment does not
// reject.
BlasCore choose_blas_core(const CpuFeatures& cpu, const Environment& environment);

// What the log and run.json say.
struct BlasReport {
    bool openblas = false;
    bool proven = false;
    std::string core;  // as OpenBLAS names it; part of what makes runs bit-identical. Empty without OpenBLAS
    std::string text;  // "OpenBLAS core SkylakeX (chosen from AVX512; OpenBLAS itself would take Prescott),
                       // product proven"
};

// To be called first in main, before MPI_Init and before any thread: may start the program again (same
// process id, open file descriptors kept, so PMI goes on), at most once per candidate. Throws
// Error(environment) if the user's core, or every core, computes wrong products. Without OpenBLAS (MKL,
// reference BLAS) it changes nothing and says so.
BlasReport ensure_blas_core(char** argv);

// The same for a given CPU and BLAS.
BlasReport ensure_blas_core(char** argv, const CpuFeatures& cpu, const BlasLibrary& blas);

}  // namespace mastic::job
