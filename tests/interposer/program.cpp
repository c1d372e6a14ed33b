#include "program.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

namespace program {

std::uint64_t digest(const void* data, std::size_t bytes) {
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
    }
    return hash;
}

void print_all(const std::string& what, std::uint64_t mine) {
    const int ranks = size_of(MPI_COMM_WORLD);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) != 0) {
        return;
    }
    std::printf("%s:", what.c_str());
    for (const std::uint64_t value : all) {
        std::printf(" %llx", static_cast<unsigned long long>(value));
    }
    std::printf("\n");
}

int number(std::size_t index, int rank) {
    return static_cast<int>((index * 7 + static_cast<std::size_t>(rank) * 13 + index / 1000) % 23);
}

}  // namespace program

namespace {

struct Scenario {
    const char* name;
    void (*run)();
};

constexpr Scenario scenarios[] = {
    {"reductions", program::reductions},       {"broadcasts", program::broadcasts},
    {"communicators", program::communicators}, {"foreign-types", program::foreign_types},
    {"messages", program::messages},           {"errors", program::errors},
    {"attributes", program::attributes},       {"threads", program::threads},
};

// Between MPI_Init and MPI_Finalize, as programs that start helpers do.
void fork_a_child() {
    const pid_t child = fork();
    if (child == 0) {
        std::exit(0);  // with destructors
    }
    int status = 0;
    waitpid(child, &status, 0);
    program::print_all("child", static_cast<std::uint64_t>(status));
}

}  // namespace

int main(int argc, char** argv) {
    alarm(100);
    if (argc < 2) {
        std::puts("no MPI at all");
        return 0;
    }
    int level = MPI_THREAD_SINGLE;
    const bool several = std::strcmp(argv[1], "threads") == 0;
    MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    program::print_all("thread level", static_cast<std::uint64_t>(level));
    for (const Scenario& scenario : scenarios) {
        if (std::strcmp(argv[1], scenario.name) == 0) {
            scenario.run();
        }
    }
    std::fflush(stdout);
    fork_a_child();
    MPI_Finalize();
    int ended = 0;
    MPI_Finalized(&ended);
    return ended == 1 ? 0 : 1;
}
