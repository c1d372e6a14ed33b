// Does this BLAS compute right products? Asked in a child process, since wrong kernels crash or hang as well.
#pragma once

#include <string>

#include <mastic/core/duration.hpp>

namespace mastic::job {

// The Fortran interface with 32-bit integers, which libtorch calls; column-major.
template <class T>
using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                      const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta,
                      T* c, const int* ldc);

// The BLAS that is loaded into this process; null where it lacks a function.
struct BlasLibrary {
    Gemm<float> sgemm = nullptr;
    Gemm<double> dgemm = nullptr;
    char* (*core_name)() = nullptr;  // OpenBLAS only
    void (*set_threads)(int) = nullptr;
    // OpenBLAS only, and internal to it: forget the present core; choose one anew from the environment.
    void (*forget_core)() = nullptr;
    void (*load_core)() = nullptr;
    std::string file;  // where sgemm comes from
};

// Looks the functions up among the loaded libraries, so that lib/job links no BLAS.
BlasLibrary find_blas();

enum class BlasVerdict { right, wrong, unknown };

struct BlasProof {
    BlasVerdict verdict = BlasVerdict::unknown;  // unknown: the check could not be made (no child process)
    std::string
        problem;  // "crashed (signal 4)", "no answer in 10 s", "wrong sgemm 65x63x67 NT"; empty if right
};

// Small products of whole numbers, whose results are exact in any order of summation: odd and even shapes,
// all transposes, both precisions, padded leading dimensions. The padding holds NaN and must neither be used
// nor overwritten, and beta = 0 must overwrite NaN. One thread. Returns within about `timeout`.
BlasProof prove_blas(const BlasLibrary& blas, Seconds timeout = Seconds(10));

}  // namespace mastic::job
