#include <mastic/tuning/least_squares.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mastic::tuning {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Gaussian elimination with pivots on the unknowns in `used` (a bit each); the others stay 0. False: singular.
bool solve(Matrix matrix, Vector right, unsigned used, Vector& solution) {
    for (std::size_t i = 0; i < 3; ++i) {
        if ((used >> i & 1u) == 0) {
            for (std::size_t k = 0; k < 3; ++k) {
                matrix[i][k] = matrix[k][i] = i == k ? 1 : 0;
            }
            right[i] = 0;
        }
    }
    for (std::size_t column = 0; column < 3; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column + 1; row < 3; ++row) {
            pivot = std::abs(matrix[row][column]) > std::abs(matrix[pivot][column]) ? row : pivot;
        }
        if (std::abs(matrix[pivot][column]) < 1e-12) {
            return false;
        }
        std::swap(matrix[pivot], matrix[column]);
        std::swap(right[pivot], right[column]);
        for (std::size_t row = 0; row < 3; ++row) {
            if (row != column) {
                const double factor = matrix[row][column] / matrix[column][column];
                for (std::size_t k = 0; k < 3; ++k) {
                    matrix[row][k] -= factor * matrix[column][k];
                }
                right[row] -= factor * right[column];
            }
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        solution[i] = right[i] / matrix[i][i];
    }
    return true;
}

}  // namespace

std::array<double, 3> non_negative_least_squares(std::vector<std::array<double, 3>> rows) {
    Vector scale{};  // of the columns, so that their sums are comparable
    for (const Vector& row : rows) {
        for (std::size_t i = 0; i < 3; ++i) {
            scale[i] = std::max(scale[i], row[i]);
        }
    }
    Matrix normal{};
    Vector right{};
    for (Vector& row : rows) {
        for (std::size_t i = 0; i < 3; ++i) {
            row[i] = scale[i] > 0 ? row[i] / scale[i] : 0;
        }
        for (std::size_t i = 0; i < 3; ++i) {
            right[i] += row[i];
            for (std::size_t k = 0; k < 3; ++k) {
                normal[i][k] += row[i] * row[k];
            }
        }
    }
    Vector best{};
    double least = static_cast<double>(rows.size());
    for (unsigned used = 1; used < 8; ++used) {
        Vector candidate{};
        if (!solve(normal, right, used, candidate) || *std::ranges::min_element(candidate) < 0) {
            continue;
        }
        double squares = 0;
        for (const Vector& row : rows) {
            squares += std::pow(dot(row, candidate) - 1, 2);
        }
        if (squares < least) {
            least = squares;
            best = candidate;
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        best[i] = scale[i] > 0 ? best[i] / scale[i] : 0;
    }
    return best;
}

}  // namespace mastic::tuning
