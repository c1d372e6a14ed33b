#include "comm/shm/local_ranks.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/comm/request.hpp>

namespace mastic::test {

namespace {
constexpr std::size_t most_ranks = 8;
constexpr std::size_t most_bytes = 64 << 10;
}  // namespace

struct LocalGroup::Meeting {
    std::atomic<std::uint64_t> come[most_ranks];
    std::byte data[most_ranks][most_bytes];
};

LocalGroup::LocalGroup(std::shared_ptr<Meeting> meeting, int rank, int size)
    : meeting_(std::move(meeting)), rank_(rank), size_(size) {}

void LocalGroup::meet() {
    ++met_;
    meeting_->come[rank_] = met_;
    for (int rank = 0; rank < size_; ++rank) {
        while (meeting_->come[rank] < met_) {
            nap();
        }
    }
}

comm::Request LocalGroup::start_allgather(comm::BufferView send, comm::BufferView receive,
                                          const comm::OperationOptions&) {
    if (send.bytes() > most_bytes) {
        throw std::length_error("more than LocalGroup can carry");
    }
    if (send.bytes() > 0) {
        std::memcpy(meeting_->data[rank_], send.data, send.bytes());
    }
    meet();
    for (int rank = 0; rank < size_ && send.bytes() > 0; ++rank) {
        std::memcpy(static_cast<std::byte*>(receive.data) + static_cast<std::size_t>(rank) * send.bytes(),
                    meeting_->data[rank], send.bytes());
    }
    return start_barrier({});
}

comm::Request LocalGroup::start_barrier(const comm::OperationOptions&) {
    meet();
    auto state = std::make_shared<comm::Request::State>("done", comm::WaitLimits{},
                                                        std::weak_ptr<comm::StallSource>{});
    state->complete(Seconds(0));
    return comm::Request(state);
}

comm::Request LocalGroup::start_allreduce(comm::BufferView, comm::ReduceOp, const comm::OperationOptions&) {
    throw std::logic_error("not for this test");
}

comm::Request LocalGroup::start_broadcast(comm::BufferView, int, const comm::OperationOptions&) {
    throw std::logic_error("not for this test");
}

std::shared_ptr<void> LocalGroup::allocate(std::size_t) {
    throw std::logic_error("not for this test");
}

namespace {

[[noreturn]] void run_rank(LocalGroup group, const std::function<void(LocalGroup&)>& body) {
    alarm(30);
    int code = 1;
    try {
        body(group);
        code = testing::Test::HasFailure() ? 1 : 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", group.rank(), error.what());
    }
    std::fflush(nullptr);
    _exit(code);
}

}  // namespace

std::vector<int> run_ranks(int ranks, const std::function<void(LocalGroup& group)>& body) {
    constexpr std::size_t bytes = sizeof(LocalGroup::Meeting);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("no shared memory for the test");
    }
    const std::shared_ptr<LocalGroup::Meeting> meeting(
        static_cast<LocalGroup::Meeting*>(memory),
        [](LocalGroup::Meeting* mapped) { munmap(mapped, bytes); });
    std::fflush(nullptr);
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t child = fork();
        if (child == 0) {
            run_rank(LocalGroup(meeting, rank, ranks), body);
        }
        children.push_back(child);
    }
    std::vector<int> statuses;
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        statuses.push_back(status);
    }
    return statuses;
}

void expect_ranks(int ranks, const std::function<void(LocalGroup& group)>& body) {
    const std::vector<int> statuses = run_ranks(ranks, body);
    for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
        EXPECT_EQ(statuses[rank], 0) << "rank " << rank << " of " << ranks
                                     << (WIFSIGNALED(statuses[rank]) ? " was ended by a signal" : " failed");
    }
}

void nap() {
    std::this_thread::sleep_for(std::chrono::microseconds(5));
}

void drive(comm::Operation& operation) {
    constexpr int patience = 20;
    operation.start();
    int idle = 0;
    for (comm::Step step = operation.step(); step != comm::Step::complete; step = operation.step()) {
        idle = step == comm::Step::waiting ? idle + 1 : 0;
        if (idle > patience) {
            nap();
        }
    }
}

}  // namespace mastic::test
