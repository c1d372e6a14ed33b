#include <mastic/job/blas_proof.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/descriptor.hpp>

namespace mastic::job {
namespace {

struct Shape {
    int m, n, k;
};

// Below, at and above the kernels' register tiles, and longer than their blocks in m (500 > 448) and k (400 >
// 384).
constexpr Shape shapes[] = {{1, 1, 1},    {7, 5, 3},     {17, 33, 9},  {65, 63, 67}, {129, 127, 31},
                            {1, 300, 77}, {300, 1, 400}, {500, 9, 40}, {64, 48, 32}, {27, 130, 400}};
constexpr int padding = 3;

// Column-major; `rows` of each column are used, `padding` more hold NaN.
template <class T>
struct Matrix {
    Matrix(int r, int c)
        : rows(r),
          columns(c),
          stride(r + padding),
          values(static_cast<std::size_t>(stride) * static_cast<std::size_t>(c),
                 std::numeric_limits<T>::quiet_NaN()) {}

    T& at(int row, int column) {
        return values[static_cast<std::size_t>(column) * static_cast<std::size_t>(stride) +
                      static_cast<std::size_t>(row)];
    }

    int rows, columns, stride;
    std::vector<T> values;
};

// Whole numbers in -8..8 without a period that a tile could share.
int element(int row, int column) {
    return (row * 31 + column * 17 + row * column) % 17 - 8;
}

template <class T>
Matrix<T> filled(int rows, int columns, bool transposed) {
    Matrix<T> matrix(transposed ? columns : rows, transposed ? rows : columns);
    for (int column = 0; column < columns; ++column) {
        for (int row = 0; row < rows; ++row) {
            (transposed ? matrix.at(column, row) : matrix.at(row, column)) =
                static_cast<T>(element(row, column));
        }
    }
    return matrix;
}

// op(A) op(B), m x n. At most 400 terms of at most 64: exact even in float.
template <class T>
Matrix<T> reference_product(const Shape& shape) {
    auto a = filled<T>(shape.m, shape.k, false);
    auto b = filled<T>(shape.k, shape.n, false);
    Matrix<T> c(shape.m, shape.n);
    for (int column = 0; column < shape.n; ++column) {
        std::fill_n(&c.at(0, column), shape.m, T(0));
        for (int inner = 0; inner < shape.k; ++inner) {
            const T factor = b.at(inner, column);
            const T* from = &a.at(0, inner);
            T* to = &c.at(0, column);
            for (int row = 0; row < shape.m; ++row) {
                to[row] += from[row] * factor;
            }
        }
    }
    return c;
}

template <class T>
bool equal_with_padding(Matrix<T>& result, Matrix<T>& expected) {
    for (std::size_t i = 0; i < result.values.size(); ++i) {
        const bool both_nan = std::isnan(result.values[i]) && std::isnan(expected.values[i]);
        if (!both_nan && !(result.values[i] == expected.values[i])) {
            return false;
        }
    }
    return true;
}

template <class T>
std::string check_shape(Gemm<T> gemm, const char* name, const Shape& shape) {
    auto expected = reference_product<T>(shape);
    for (const bool transpose_a : {false, true}) {
        for (const bool transpose_b : {false, true}) {
            const auto a = filled<T>(shape.m, shape.k, transpose_a);
            const auto b = filled<T>(shape.k, shape.n, transpose_b);
            Matrix<T> c(shape.m, shape.n);
            const char* const letters[] = {"N", "T"};
            const T one = 1;
            const T zero = 0;
            gemm(letters[transpose_a], letters[transpose_b], &shape.m, &shape.n, &shape.k, &one,
                 a.values.data(), &a.stride, b.values.data(), &b.stride, &zero, c.values.data(), &c.stride);
            if (!equal_with_padding(c, expected)) {
                return std::string("wrong ") + name + " " + std::to_string(shape.m) + "x" +
                       std::to_string(shape.n) + "x" + std::to_string(shape.k) + " " + letters[transpose_a] +
                       letters[transpose_b];
            }
        }
    }
    return "";
}

// Empty if all is right.
std::string check_products(const BlasLibrary& blas) {
    for (const auto& shape : shapes) {
        for (const auto& problem :
             {check_shape(blas.sgemm, "sgemm", shape), check_shape(blas.dgemm, "dgemm", shape)}) {
            if (!problem.empty()) {
                return problem;
            }
        }
    }
    return "";
}

// The child's last word, which tells a finished check from a death on the way.
constexpr char finished = '.';

[[noreturn]] void run_child(const BlasLibrary& blas, int to_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        std::signal(signal, SIG_DFL);
    }
    if (blas.set_threads != nullptr) {
        blas.set_threads(1);
    }
    const auto answer = check_products(blas) + finished;
    const bool written =
        write(to_parent, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    _exit(written ? 0 : 1);
}

// All that arrives until the other end is closed; empty result on a time-out.
struct Answer {
    bool in_time = false;
    std::string text;
};

Answer receive(int descriptor, Seconds timeout) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + timeout;
    Answer answer;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        pollfd ready = {descriptor, POLLIN, 0};
        const int count = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return {};
        }
        std::array<char, 256> buffer;
        const auto size = read(descriptor, buffer.data(), buffer.size());
        if (size <= 0) {
            answer.in_time = true;
            return answer;
        }
        answer.text.append(buffer.data(), static_cast<std::size_t>(size));
    }
}

int reap(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

BlasProof judge(const Answer& answer, int status, Seconds timeout) {
    if (!answer.in_time) {
        return {BlasVerdict::wrong, "no answer in " + human(timeout)};
    }
    if (WIFSIGNALED(status)) {
        return {BlasVerdict::wrong, "crashed (signal " + std::to_string(WTERMSIG(status)) + ")"};
    }
    if (answer.text.empty() || answer.text.back() != finished) {
        return {BlasVerdict::wrong, "ended before the product was done"};
    }
    const auto problem = answer.text.substr(0, answer.text.size() - 1);
    return {problem.empty() ? BlasVerdict::right : BlasVerdict::wrong, problem};
}

template <class Function>
void look_up(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

BlasLibrary find_blas() {
    BlasLibrary blas;
    look_up("sgemm_", blas.sgemm);
    look_up("dgemm_", blas.dgemm);
    look_up("openblas_get_corename", blas.core_name);
    look_up("openblas_set_num_threads", blas.set_threads);
    look_up("gotoblas_dynamic_quit", blas.forget_core);
    look_up("gotoblas_dynamic_init", blas.load_core);
    Dl_info where = {};
    if (blas.sgemm != nullptr && dladdr(reinterpret_cast<void*>(blas.sgemm), &where) != 0 &&
        where.dli_fname != nullptr) {
        blas.file = where.dli_fname;
    }
    return blas;
}

BlasProof prove_blas(const BlasLibrary& blas, Seconds timeout) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return {BlasVerdict::unknown, std::string("no pipe: ") + std::strerror(errno)};
    }
    const Descriptor from_child(ends[0]);
    Descriptor to_parent(ends[1]);
    const pid_t child = fork();
    if (child < 0) {
        return {BlasVerdict::unknown, std::string("no child process: ") + std::strerror(errno)};
    }
    if (child == 0) {
        run_child(blas, to_parent.get());
    }
    to_parent.close();
    const auto answer = receive(from_child.get(), timeout);
    if (!answer.in_time) {
        kill(child, SIGKILL);
    }
    return judge(answer, reap(child), timeout);
}

}  // namespace mastic::job
