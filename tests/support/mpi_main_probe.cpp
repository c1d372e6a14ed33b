// An MPI test whose rank 1 does what MASTIC_PROBE says: "pass", "fail", "throw" or "hang".
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

TEST(Probe, DoesWhatItIsTold) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* told = std::getenv("MASTIC_PROBE");
    const std::string action = told != nullptr && rank == 1 ? told : "pass";
    if (action == "fail") {
        ADD_FAILURE() << "as it was told";
    } else if (action == "throw") {
        throw std::runtime_error("as it was told");
    } else if (action == "hang") {
        std::this_thread::sleep_for(std::chrono::minutes(10));
    }
}

}  // namespace
