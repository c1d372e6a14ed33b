#include <algorithm>
#include <csignal>
#include <string>

#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/blas_proof.hpp>

#include "naive_gemm.hpp"
#include "support/in_child.hpp"

namespace mastic::job {
namespace {

using test::naive_gemm;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Seconds patient{30};

BlasLibrary right_library() {
    BlasLibrary blas;
    blas.sgemm = naive_gemm<float>;
    blas.dgemm = naive_gemm<double>;
    return blas;
}

template <class T>
struct GemmCall {
    const char* trans_a;
    const char* trans_b;
    const int *m, *n, *k;
    const T* alpha;
    const T* a;
    const int* lda;
    const T* b;
    const int* ldb;
    const T* beta;
    T* c;
    const int* ldc;

    void compute() const { naive_gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
};

// A gemm that does what the body, a lambda without captures, does with the call.
template <class T, class Body>
Gemm<T> gemm_that(Body) {
    return
        [](const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const T* alpha,
           const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc) {
            Body{}(GemmCall<T>{trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
        };
}

using SCall = GemmCall<float>;
using DCall = GemmCall<double>;

TEST(ProveBlas, AcceptsARightLibrary) {
    const auto proof = prove_blas(right_library(), patient);
    EXPECT_EQ(proof.verdict, BlasVerdict::right);
    EXPECT_EQ(proof.problem, "");
}

TEST(ProveBlas, TellsACrash) {
    auto blas = right_library();
    blas.sgemm = gemm_that<float>([](SCall call) {
        call.compute();
        if (*call.m > 100) {
            raise(SIGILL);
        }
    });
    const auto proof = prove_blas(blas, patient);
    EXPECT_EQ(proof.verdict, BlasVerdict::wrong);
    EXPECT_EQ(proof.problem, "crashed (signal 4)");
}

TEST(ProveBlas, EndsAHangingChild) {
    auto blas = right_library();
    blas.dgemm = gemm_that<double>([](const DCall&) {
        for (;;) {
            pause();
        }
    });
    const auto proof = prove_blas(blas, Seconds(0.2));
    EXPECT_EQ(proof.verdict, BlasVerdict::wrong);
    EXPECT_THAT(proof.problem, StartsWith("no answer in"));
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(ProveBlas, TellsALibraryThatEndsTheProcess) {
    auto blas = right_library();
    blas.sgemm = gemm_that<float>([](const SCall&) { _exit(0); });
    EXPECT_EQ(prove_blas(blas, patient).problem, "ended before the product was done");
}

// Wrong at one odd edge, for one transpose, in a later block of the sum, beyond the rows of a matrix, or by
// using what beta = 0 must overwrite.
TEST(ProveBlas, FindsWrongProducts) {
    const struct {
        const char* what;
        Gemm<float> sgemm;
        const char* problem;
    } cases[] = {
        {"one element of an odd shape", gemm_that<float>([](SCall call) {
             call.compute();
             if (*call.m == 129) {
                 call.c[128 + 126 * *call.ldc] += 1;
             }
         }),
         "wrong sgemm 129x127x31 NN"},
        {"one transpose", gemm_that<float>([](SCall call) {
             call.compute();
             if (*call.trans_a == 'N' && *call.trans_b == 'T' && *call.k > 1) {
                 call.c[0] = -call.c[0] - 1;
             }
         }),
         "wrong sgemm 7x5x3 NT"},
        {"a long sum that loses its second block", gemm_that<float>([](SCall call) {
             const int block = std::min(*call.k, 384);
             call.k = &block;
             call.compute();
         }),
         "x400 NN"},
        {"a store beyond the last row", gemm_that<float>([](SCall call) {
             call.compute();
             call.c[*call.m] = 0;
         }),
         "wrong sgemm 1x1x1 NN"},
        {"a value from beyond the last row", gemm_that<float>([](SCall call) {
             call.compute();
             call.c[0] += 0 * call.a[*call.trans_a == 'T' ? *call.k : *call.m];
         }),
         "wrong sgemm 1x1x1 NN"},
        {"beta times NaN", gemm_that<float>([](SCall call) {
             const float old = *call.beta * call.c[0];
             call.compute();
             call.c[0] += old;
         }),
         "wrong sgemm 1x1x1 NN"},
        {"nothing done", gemm_that<float>([](const SCall&) {}), "wrong sgemm 1x1x1 NN"},
    };
    for (const auto& c : cases) {
        auto blas = right_library();
        blas.sgemm = c.sgemm;
        const auto proof = prove_blas(blas, patient);
        EXPECT_EQ(proof.verdict, BlasVerdict::wrong) << c.what;
        EXPECT_THAT(proof.problem, HasSubstr(c.problem)) << c.what;
    }
}

TEST(ProveBlas, ChecksBothPrecisions) {
    auto blas = right_library();
    blas.dgemm = gemm_that<double>([](DCall call) {
        call.compute();
        call.c[0] += 1e-9;
    });
    EXPECT_THAT(prove_blas(blas, patient).problem, HasSubstr("wrong dgemm"));
}

TEST(ProveBlas, ProvesTheInstalledOpenBlas) {
    // Loaded in a child, so that no other test meets its threads.
    constexpr int not_installed = 50;
    const int code = test::run_child([] {
        if (dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
            return not_installed;
        }
        const auto blas = find_blas();
        if (blas.core_name == nullptr || std::string(blas.core_name()).empty() ||
            blas.file.find("openblas") == std::string::npos) {
            return 1;
        }
        const auto proof = prove_blas(blas, patient);
        std::fprintf(stderr, "%s: %s\n", blas.core_name(), proof.problem.c_str());
        return proof.verdict == BlasVerdict::right ? 0 : 2;
    });
    if (code == not_installed) {
        GTEST_SKIP() << "OpenBLAS is not installed";
    }
    EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace mastic::job
