#include "program.hpp"

namespace program {

namespace {

std::uint64_t use(MPI_Comm comm, int count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = number(i, rank_in(comm));
    }
    MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Bcast(values.data(), count, MPI_DOUBLE, size_of(comm) - 1, comm);
    return digest(values.data(), values.size() * sizeof(double));
}

void inter_communicator(int ranks, int rank) {
    if (ranks < 2) {
        return;
    }
    const bool low = rank < ranks / 2;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, rank, &half);
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? ranks / 2 : 0, 5, &both);
    std::vector<float> mine(5000, static_cast<float>(rank + 1));
    std::vector<float> theirs(5000);
    MPI_Allreduce(mine.data(), theirs.data(), 5000, MPI_FLOAT, MPI_SUM, both);
    print_all("inter-communicator", digest(theirs.data(), theirs.size() * sizeof(float)));
    MPI_Bcast(mine.data(), 5000, MPI_FLOAT, low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, both);
    print_all("broadcast to the other half", digest(mine.data(), mine.size() * sizeof(float)));
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

}  // namespace

void communicators() {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int ranks = size_of(MPI_COMM_WORLD);
    print_all("world", use(MPI_COMM_WORLD, 10'000));
    print_all("self", use(MPI_COMM_SELF, 10'000));
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    print_all("copy", use(copy, 10'000));
    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    print_all("backwards", use(backwards, 10'000));
    // Some ranks only, and used in turn with the others.
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : rank % 2, rank, &part);
    std::uint64_t together = 0;
    for (int round = 0; round < 8; ++round) {
        together = together * 31 + use(copy, 3000 + round);
        together = together * 31 + (part == MPI_COMM_NULL ? 0 : use(part, 2000 + round));
        together = together * 31 + use(backwards, 1000 + round);
    }
    print_all("in turn", together);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_free(&part);
    }
    // Freed at once, while others may still be in the last call; numbers of communicators come again.
    for (int round = 0; round < 24; ++round) {
        MPI_Comm brief = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, round % 3 == 0 ? rank % 2 : 0, rank, &brief);
        together = together * 31 + use(brief, 500 + round);
        MPI_Comm_free(&brief);
    }
    print_all("brief ones", together);
    // More at once than there are descriptors for.
    std::vector<MPI_Comm> many(40);
    for (MPI_Comm& comm : many) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        together = together * 31 + use(comm, 700);
    }
    for (MPI_Comm& comm : many) {
        MPI_Comm_free(&comm);
    }
    print_all("many", together);
    inter_communicator(ranks, rank);
    MPI_Comm_free(&backwards);
    print_all("at the end", use(copy, 100));  // and never freed
}

}  // namespace program
