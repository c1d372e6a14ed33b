// The main function of MPI tests: a failure on any rank fails all, and no hang lasts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <mastic/core/watchdog.hpp>

namespace {

constexpr int hang_code = 124;

// Knows which test runs, and prints the failures of ranks whose ordinary output is off.
class RankListener : public testing::EmptyTestEventListener {
  public:
    RankListener(int rank, bool prints_failures) : rank_(rank), prints_failures_(prints_failures) {}

    std::string current_test() {
        const std::lock_guard lock(mutex_);
        return current_test_;
    }

  private:
    void set_current_test(const std::string& name) {
        const std::lock_guard lock(mutex_);
        current_test_ = name;
    }
    void OnTestStart(const testing::TestInfo& info) override {
        set_current_test(std::string(info.test_suite_name()) + "." + info.name());
    }
    void OnTestEnd(const testing::TestInfo&) override {
        set_current_test("(all tests done, waiting for other ranks)");
    }
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (prints_failures_ && result.failed()) {
            std::fprintf(stderr, "[rank %d] %s: %s:%d: %s\n", rank_, current_test().c_str(),
                         result.file_name() != nullptr ? result.file_name() : "?", result.line_number(),
                         result.message());
        }
    }

    const int rank_;
    const bool prints_failures_;
    std::mutex mutex_;
    std::string current_test_ = "(before the first test)";
};

std::chrono::seconds hang_limit() {
    const char* text = std::getenv("MASTIC_TEST_WATCHDOG");
    return std::chrono::seconds(text != nullptr ? std::max(1, std::atoi(text)) : 90);
}

RankListener& install_listener(int rank) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) {
        delete listeners.Release(listeners.default_result_printer());
    }
    auto* listener = new RankListener(rank, rank != 0);
    listeners.Append(listener);
    return *listener;
}

[[noreturn]] void leave(int code) {
    std::fflush(nullptr);
    _exit(code);
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    testing::InitGoogleTest(&argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    RankListener& listener = install_listener(rank);

    int worst = 0;
    {
        const mastic::Watchdog watchdog(hang_limit(), [&] {
            std::fprintf(stderr, "[rank %d] hang: still in %s after %lld s\n", rank,
                         listener.current_test().c_str(), static_cast<long long>(hang_limit().count()));
            // The first rank to leave makes mpiexec kill the others: let them say where they are before.
            std::this_thread::sleep_for(std::chrono::seconds(1));
            leave(hang_code);
        });
        const int result = RUN_ALL_TESTS();
        MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0 && worst != 0) {
        std::fprintf(stderr, "failed on at least one rank\n");
    }
    // MPI_Finalize of MPICH 4.0.2 hangs now and then. All results are in: leave without it then.
    const mastic::Watchdog watchdog(mastic::Seconds(5), [&] { leave(worst); });
    MPI_Finalize();
    leave(worst);
}
