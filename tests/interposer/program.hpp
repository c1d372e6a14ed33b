// A program of somebody else: plain MPI, nothing of mastic. It prints what it computed, so that a run with the interposer can
// be compared with one without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace program {

inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

// FNV-1a.
std::uint64_t digest(const void* data, std::size_t bytes);

// Collective over MPI_COMM_WORLD: rank 0 prints "WHAT: VALUE OF RANK 0, VALUE OF RANK 1, ...".
void print_all(const std::string& what, std::uint64_t mine);

// Numbers in buffers are small integers, so that sums are exact in every type and order.
int number(std::size_t index, int rank);

// The scenarios. Each prints the same with and without the interposer.
void reductions();
void broadcasts();
void communicators();
void foreign_types();
void messages();
void errors();
void attributes();
void threads();

}  // namespace program
