#include <algorithm>

#include "program.hpp"

namespace program {

namespace {

// 2 x 2 matrices multiply: associative, not commutative.
void multiply(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* a = static_cast<const std::uint32_t*>(in);
    auto* b = static_cast<std::uint32_t*>(inout);
    for (int i = 0; i < *count; ++i, a += 4, b += 4) {
        const std::uint32_t product[] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                         a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        std::copy(product, product + 4, b);
    }
}

void matrices() {
    constexpr int items = 3000;
    MPI_Datatype matrix = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(4, MPI_UINT32_T, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op product = MPI_OP_NULL;
    MPI_Op_create(multiply, 0, &product);
    std::vector<std::uint32_t> values(4 * items);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::uint32_t>(number(i, rank_in(MPI_COMM_WORLD)));
    }
    MPI_Allreduce(MPI_IN_PLACE, values.data(), items, matrix, product, MPI_COMM_WORLD);
    print_all("matrices", digest(values.data(), values.size() * sizeof(std::uint32_t)));
    MPI_Op_free(&product);
    MPI_Type_free(&matrix);
}

void places_of_extremes() {
    struct Place {
        double value;
        int rank;
        int padding;
    };
    std::vector<Place> mine(4000);
    std::vector<Place> all(4000);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = {static_cast<double>(number(i, rank_in(MPI_COMM_WORLD))), rank_in(MPI_COMM_WORLD), 0};
    }
    MPI_Allreduce(mine.data(), all.data(), 4000, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    std::uint64_t seen = 0;
    for (const Place& place : all) {
        seen =
            seen * 31 + static_cast<std::uint64_t>(place.value) * 16 + static_cast<std::uint64_t>(place.rank);
    }
    print_all("places", seen);
}

// An operation of the program on a type of the library.
void keep_larger(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        static_cast<float*>(inout)[i] = std::max(static_cast<float*>(in)[i], static_cast<float*>(inout)[i]);
    }
}

void own_operation() {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(keep_larger, 1, &op);
    std::vector<float> values(9000, static_cast<float>(rank_in(MPI_COMM_WORLD)));
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 9000, MPI_FLOAT, op, MPI_COMM_WORLD);
    print_all("own operation", digest(values.data(), values.size() * sizeof(float)));
    MPI_Op_free(&op);
}

}  // namespace

void foreign_types() {
    matrices();
    places_of_extremes();
    own_operation();
}

}  // namespace program
