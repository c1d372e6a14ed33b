#include <numeric>

#include "program.hpp"

namespace program {

namespace {

constexpr int large = 4'000'000;  // a rendezvous in any MPI library

void sum_something(MPI_Comm comm) {
    std::vector<float> values(50'000, 1);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), 50'000, MPI_FLOAT, MPI_SUM, comm);
    print_all("sum", digest(values.data(), values.size() * sizeof(float)));
}

// Rank 0 is in a collective call already while the others need it to move their messages on.
void a_sender_that_has_gone_on() {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int ranks = size_of(MPI_COMM_WORLD);
    std::vector<int> values(large);
    std::iota(values.begin(), values.end(), rank);
    std::vector<MPI_Request> requests;
    if (rank == 0) {
        for (int peer = 1; peer < ranks; ++peer) {
            MPI_Isend(values.data(), large, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests.emplace_back());
        }
    } else {
        MPI_Recv(values.data(), large, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    sum_something(MPI_COMM_WORLD);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    print_all("message", digest(values.data(), values.size() * sizeof(int)));
}

// A window's owner is in a collective call while the others write into it.
void a_window_whose_owner_has_gone_on() {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int ranks = size_of(MPI_COMM_WORLD);
    std::vector<int> memory(static_cast<std::size_t>(ranks) * 1000, -1);
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank != 0) {
        const std::vector<int> mine(1000, rank);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(mine.data(), 1000, MPI_INT, 0, rank * 1000, 1000, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    sum_something(MPI_COMM_WORLD);
    MPI_Win_fence(0, window);
    print_all("window", digest(memory.data(), memory.size() * sizeof(int)));
    MPI_Win_free(&window);
}

// Around the ring and a sum, again and again.
void messages_and_sums() {
    const int rank = rank_in(MPI_COMM_WORLD);
    const int ranks = size_of(MPI_COMM_WORLD);
    std::vector<int> out(30'000, rank);
    std::vector<int> in(30'000);
    std::uint64_t seen = 0;
    for (int round = 0; round < 20; ++round) {
        MPI_Request requests[2];
        MPI_Irecv(in.data(), 30'000, MPI_INT, (rank + ranks - 1) % ranks, round, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(out.data(), 30'000, MPI_INT, (rank + 1) % ranks, round, MPI_COMM_WORLD, &requests[1]);
        std::vector<int> sum(2000 + static_cast<std::size_t>(round), round + rank);
        MPI_Allreduce(MPI_IN_PLACE, sum.data(), static_cast<int>(sum.size()), MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        out = in;
        seen = seen * 31 + digest(sum.data(), sum.size() * sizeof(int)) +
               digest(in.data(), in.size() * sizeof(int));
    }
    print_all("messages and sums", seen);
}

// A non-blocking collective is under way meanwhile.
void a_collective_in_flight() {
    std::vector<int> early(1000, 1);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, early.data(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    sum_something(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    print_all("in flight", digest(early.data(), early.size() * sizeof(int)));
}

}  // namespace

void messages() {
    a_sender_that_has_gone_on();
    a_window_whose_owner_has_gone_on();
    messages_and_sums();
    a_collective_in_flight();
}

}  // namespace program
