// A program with an OpenBLAS of its own making, which misbehaves as the test asks:
// FAKE_BLAS="SkylakeX=crash,..." with crash, wrong and unknown (the library does not have this core). It
// prints the report of ensure_blas_core.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/job/blas_core.hpp>

#include "naive_gemm.hpp"

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool behaves(const std::string& core, const std::string& how) {
    return ("," + variable("FAKE_BLAS") + ",").find("," + core + "=" + how + ",") != std::string::npos;
}

// As OpenBLAS does, the environment is read once, while the library loads.
std::string core_by_environment() {
    const auto requested = variable("OPENBLAS_CORETYPE");
    return requested.empty() || behaves(requested, "unknown") ? "Prescott" : requested;
}

std::string load() {
    std::printf("start\n");
    std::fflush(stdout);
    return core_by_environment();
}

std::string loaded = load();

template <class T>
void misbehave(T* c) {
    if (behaves(loaded, "crash")) {
        raise(SIGILL);
    }
    if (behaves(loaded, "wrong")) {
        c[0] += 1;
    }
}

}  // namespace

extern "C" {
void reload_fake_blas() {
    loaded = core_by_environment();
}

char* openblas_get_corename() {
    return loaded.data();
}

void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc) {
    mastic::test::naive_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    misbehave(c);
}

void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc) {
    mastic::test::naive_gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    misbehave(c);
}
}

int main(int argc, char** argv) {
    mastic::job::CpuFeatures cpu;
    cpu.x86 = cpu.sse3 = cpu.ssse3 = cpu.sse41 = cpu.avx = cpu.avx2_fma = cpu.avx512 = true;
    cpu.l2_reported_kib = variable("FAKE_L2").empty() ? 1024 : 0;
    cpu.l2_kib = 2048;
    try {
        const auto report = mastic::job::ensure_blas_core(argv, cpu, mastic::job::find_blas());
        std::printf("core=%s proven=%d l2=%s args=%d:%s\n%s\n", report.core.c_str(), report.proven,
                    variable("OPENBLAS_L2_SIZE").c_str(), argc, argc > 1 ? argv[1] : "", report.text.c_str());
        return 0;
    } catch (const mastic::Error& error) {
        std::printf("%s\n", error.full_message().c_str());
        return static_cast<int>(error.code());
    }
}
