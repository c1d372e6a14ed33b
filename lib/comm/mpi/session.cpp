#include <mastic/comm/mpi/session.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <mpi.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/mpi/detail/launcher.hpp>
#include <mastic/comm/mpi/detail/roll_post.hpp>
#include <mastic/comm/mpi/detail/runtime.hpp>
#include <mastic/core/watchdog.hpp>

namespace mastic::comm {

using detail::check;

namespace {

[[noreturn]] void leave(int code) {
    spdlog::default_logger()->flush();
    std::fflush(nullptr);
    _exit(code);
}

// MPI_Abort calls exit(), whose destructors would take away what other threads still use: the crash would hide the code.
// What is registered last is called first.
void leave_before_destructors(int code) {
    static std::atomic<int> final_code{0};
    final_code = code;
    std::atexit([] { _exit(final_code); });
}

bool in_good_order(int code) {
    return code == static_cast<int>(ExitCode::done) || code == static_cast<int>(ExitCode::requeue);
}

// True if MPI was started here, false if the program had.
bool start_mpi() {
    int started = 0;
    int level = MPI_THREAD_SINGLE;
    MPI_Initialized(&started);
    if (started != 0) {
        MPI_Query_thread(&level);
    } else if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
        throw Error(ExitCode::environment, "MPI_Init_thread failed",
                    "start with mpiexec.mpich or srun --mpi=pmi2");
    }
    if (level < MPI_THREAD_SERIALIZED) {
        throw Error(ExitCode::environment, "MPI has no thread support (level " + std::to_string(level) + ")",
                    "use an MPI library that offers MPI_THREAD_SERIALIZED");
    }
    return started == 0;
}

bool completes_within(MPI_Request& request, Seconds limit) {
    const auto deadline = Clock::now() + to_ticks(limit);
    int done = 0;
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0 &&
           Clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return done != 0;
}

}  // namespace

struct MpiSession::Impl {
    explicit Impl(const SessionOptions& session_options) : options(session_options), owns_mpi(start_mpi()) {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
        runtime = std::make_shared<detail::Runtime>();
        runtime->placement = detail::find_placement(world);
        // A program that started MPI itself may call it while nothing is in flight.
        int level = MPI_THREAD_SINGLE;
        check(MPI_Query_thread(&level), "MPI_Query_thread");
        runtime->roll_post = detail::make_roll_post(world, owns_mpi || level == MPI_THREAD_MULTIPLE);
    }

    // The last barrier. In small worlds an all-to-all goes first: with every connection used once more,
    // MPI_Finalize of MPICH 4.0.2 hangs less often.
    bool wait_for_all(Seconds limit) {
        constexpr int small = 64;
        MPI_Request request = MPI_REQUEST_NULL;
        if (runtime->placement.size <= small) {
            sent.resize(small);
            received.resize(small);
            MPI_Ialltoall(sent.data(), 1, MPI_BYTE, received.data(), 1, MPI_BYTE, world, &request);
            if (!completes_within(request, limit)) {
                return false;
            }
        }
        MPI_Ibarrier(world, &request);
        if (!completes_within(request, limit)) {
            return false;
        }
        runtime->roll_post->receive();  // words that nobody has read: less for MPI_Finalize to clear up
        return true;
    }

    // Between nodes MPI_Finalize of MPICH 4.0.2 closes each connection with the help of the peer, which may have passed that
    // point and wait for the launcher already: then it hangs, more often than not with four nodes over TCP. All ranks have
    // passed the last barrier and nothing is left to do, so they leave without it, all of them: one that waits for the
    // others at the launcher would make it fail.
    [[noreturn]] void leave_without_finalize(int code) {
        // What this rank sent last may still be on its way, and other ranks may need answers to receive it.
        constexpr std::chrono::milliseconds linger{100};
        for (const auto end = Clock::now() + linger; Clock::now() < end;) {
            int there = 0;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &there, MPI_STATUS_IGNORE);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        detail::tell_launcher_that_mpi_is_done();
        leave(code);
    }

    void finalize_or_leave(int code) {
        if (runtime->placement.nodes > 1 && in_good_order(code)) {
            leave_without_finalize(code);
        }
        const Watchdog watchdog(options.finalize, [code, caller = pthread_self()] {
            if (in_good_order(code)) {
                detail::tell_launcher_that_mpi_is_done(caller);
            }
            leave(code);
        });
        MPI_Finalize();
    }

    SessionOptions options;
    bool owns_mpi;
    MPI_Comm world = MPI_COMM_NULL;
    std::shared_ptr<detail::Runtime> runtime;
    std::vector<char> sent;  // of wait_for_all
    std::vector<char> received;
};

MpiSession::MpiSession(const SessionOptions& options) : impl_(std::make_unique<Impl>(options)) {}

MpiSession::~MpiSession() {
    const bool clean = impl_->runtime->progress.shutdown(impl_->options.finalize);
    if (clean) {
        impl_->runtime->roll_post->receive();  // as in wait_for_all
    }
    if (clean && impl_->owns_mpi) {
        impl_->finalize_or_leave(static_cast<int>(ExitCode::collective));
    }
}

int MpiSession::rank() const {
    return impl_->runtime->placement.rank;
}
int MpiSession::size() const {
    return impl_->runtime->placement.size;
}
int MpiSession::local_rank() const {
    return impl_->runtime->placement.local_rank;
}
int MpiSession::local_size() const {
    return impl_->runtime->placement.local_size;
}
int MpiSession::nodes() const {
    return impl_->runtime->placement.nodes;
}
int MpiSession::node() const {
    return impl_->runtime->placement.node;
}
double MpiSession::cores_per_rank() const {
    return impl_->runtime->placement.cores_per_rank;
}

std::unique_ptr<Group> MpiSession::make_group(const GroupOptions& options) {
    return detail::make_mpi_group(impl_->runtime, impl_->world, options);
}

void MpiSession::finish(int code) {
    // Long enough for the other ranks, which fail at about the same time, to say what they know: the launcher
    // kills them when this one leaves.
    constexpr std::chrono::seconds last_words{1};
    const Seconds bound = in_good_order(code) ? impl_->options.last_barrier : impl_->options.finalize;
    spdlog::default_logger()->flush();
    const bool clean = impl_->runtime->progress.shutdown(impl_->options.finalize);
    if (clean && impl_->wait_for_all(bound)) {
        impl_->finalize_or_leave(code);
        leave(code);
    }
    spdlog::warn("leaving with code {} without the other ranks, which did not come to the end within {}",
                 code, human(bound));
    if (in_good_order(code)) {
        leave(code);
    }
    // Only after an abort does the launcher report this code: otherwise it may report the signal that it kills the
    // others with.
    std::this_thread::sleep_for(last_words);
    abort(code);
}

void MpiSession::abort(int code) {
    spdlog::default_logger()->flush();
    std::fflush(nullptr);
    // Under srun MPI_Abort of MPICH 4.0.2 waits for an answer that slurmstepd, ending the step, may no longer give. This
    // rank's own code ends the step too.
    constexpr Seconds answer{0.5};
    const Watchdog watchdog(answer, [code] { _exit(code); });
    leave_before_destructors(code);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

std::string mpi_library_text() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return {text, static_cast<std::size_t>(length)};
}

std::string mpi_library_version() {
    const std::string all = mpi_library_text();
    const std::string label = "MPICH Version:";
    if (!all.starts_with(label)) {
        return all.substr(0, all.find('\n'));
    }
    const std::size_t begin = all.find_first_not_of(" \t", label.size());
    return "MPICH " + all.substr(begin, all.find('\n') - begin);
}

std::string mpi_header_version() {
    return "MPICH " MPICH_VERSION;
}

}  // namespace mastic::comm
