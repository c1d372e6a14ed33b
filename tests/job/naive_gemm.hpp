// A right but slow product with BLAS's Fortran interface, to build right and wrong libraries from.
#pragma once

#include <cstddef>

namespace mastic::test {

template <class T>
void naive_gemm(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c,
                const int* ldc) {
    const auto element = [](const T* matrix, int stride, bool transposed, int row, int column) {
        const auto at = transposed ? static_cast<std::ptrdiff_t>(row) * stride + column
                                   : static_cast<std::ptrdiff_t>(column) * stride + row;
        return matrix[at];
    };
    for (int column = 0; column < *n; ++column) {
        for (int row = 0; row < *m; ++row) {
            T sum = 0;
            for (int inner = 0; inner < *k; ++inner) {
                sum += element(a, *lda, *trans_a == 'T', row, inner) *
                       element(b, *ldb, *trans_b == 'T', inner, column);
            }
            T& target = c[static_cast<std::ptrdiff_t>(column) * *ldc + row];
            target = *alpha * sum + (*beta == T(0) ? T(0) : *beta * target);
        }
    }
}

}  // namespace mastic::test
