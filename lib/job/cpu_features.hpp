// What this processor can do, as far as the choice of BLAS kernels depends on it.
#pragma once

#include <cstddef>

namespace mastic::job {

enum class CpuVendor { intel, amd, other };

struct CpuFeatures {
    bool x86 = false;  // false: nothing below is known
    CpuVendor vendor = CpuVendor::other;
    bool sse3 = false;
    bool ssse3 = false;
    bool sse41 = false;
    bool avx = false;
    bool avx2_fma = false;
    bool avx512 = false;  // F, CD, BW, DQ and VL, and the system saves their registers
    bool avx512_bf16 = false;
    std::size_t l2_reported_kib =
        0;                   // CPUID leaf 0x80000006, which OpenBLAS reads; some virtual machines report 0
    std::size_t l2_kib = 0;  // the same, or else what the kernel knows, or else 512
};

CpuFeatures detect_cpu();

}  // namespace mastic::job
