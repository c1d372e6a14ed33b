#include <array>
#include <thread>

#include "program.hpp"

namespace program {

// Each thread has a communicator of its own, its first call included, and they run at different speeds.
void threads() {
    constexpr std::size_t most = 3;
    std::array<MPI_Comm, most> comms{};
    for (MPI_Comm& comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    std::array<std::uint64_t, most> seen{};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < most; ++i) {
        threads.emplace_back([i, comm = comms[i], &mine = seen[i]] {
            for (int round = 0; round < 20; ++round) {
                const int count = 1 + round * 307 * static_cast<int>(i + 1);
                std::vector<double> values(static_cast<std::size_t>(count), rank_in(comm) + round);
                MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_SUM, comm);
                MPI_Bcast(values.data(), count, MPI_DOUBLE, round % size_of(comm), comm);
                mine = mine * 31 + digest(values.data(), values.size() * sizeof(double));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t i = 0; i < most; ++i) {
        print_all("thread " + std::to_string(i), seen[i]);
        MPI_Comm_free(&comms[i]);
    }
}

}  // namespace program
