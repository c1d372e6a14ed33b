#include <mastic/checkpoint/async_writer.hpp>

#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <mastic/checkpoint/snapshot.hpp>

namespace mastic::checkpoint {
namespace {

using Clock = std::chrono::steady_clock;

// Linux keeps both priorities per thread. Refusals do no harm.
void give_way(int nice_value) {
    const auto thread = static_cast<id_t>(syscall(SYS_gettid));
    setpriority(PRIO_PROCESS, thread, nice_value);
    constexpr int who_is_thread = 1;  // IOPRIO_WHO_PROCESS of linux/ioprio.h, which older kernels lack
    constexpr int lowest_best_effort = 2 << 13 | 7;  // IOPRIO_CLASS_BE, level 7
    syscall(SYS_ioprio_set, who_is_thread, thread, lowest_best_effort);
}

// Threads started in its scope leave all signals to the training's own thread.
class BlockedSignals {
  public:
    BlockedSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

  private:
    sigset_t before_;
};

}  // namespace

const ShardRecord& WriteOutcome::value() const {
    if (error) {
        std::rethrow_exception(error);
    }
    return record;
}

// Owned by the writer and its thread together, so that a thread stuck on a dead file system can be left
// behind.
struct AsyncCheckpointWriter::Shared {
    Shared(CheckpointStore its_store, int its_writer, int its_writers, AsyncWriterOptions its_options)
        : store(std::move(its_store)), writer(its_writer), writers(its_writers), options(its_options) {}

    CheckpointStore store;
    int writer;
    int writers;
    AsyncWriterOptions options;

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<WriteOutcome> outcomes;
    bool pending = false;  // a state waits for the thread
    bool copied = true;    // the thread no longer looks at the caller's memory
    bool running = false;  // the thread writes it
    bool stop = false;
    bool ended = false;

    // Belongs to the caller while nothing is pending or running, else to the thread.
    Snapshot snapshot;
    std::uint64_t step = 0;

    bool in_flight() const { return pending || running; }
    void serve();
    WriteOutcome write_snapshot();
};

WriteOutcome AsyncCheckpointWriter::Shared::write_snapshot() {
    WriteOutcome outcome;
    outcome.step = step;
    outcome.timing.bytes = snapshot.state().bytes();
    const auto begin_copy = Clock::now();
    snapshot.copy(options.copy_threads);
    {
        const std::lock_guard lock(mutex);
        copied = true;
        changed.notify_all();
    }
    const auto begin = Clock::now();
    outcome.timing.copy = begin - begin_copy;
    try {
        outcome.record = store.write_shard(step, writer, writers, snapshot.state());
    } catch (...) {
        outcome.error = std::current_exception();
    }
    outcome.timing.write = Clock::now() - begin;
    return outcome;
}

void AsyncCheckpointWriter::Shared::serve() {
    give_way(options.nice);
    std::unique_lock lock(mutex);
    for (;;) {
        changed.wait(lock, [&] { return pending || stop; });
        if (!pending) {
            break;
        }
        pending = false;
        running = true;
        lock.unlock();
        WriteOutcome outcome = write_snapshot();
        lock.lock();
        running = false;
        outcomes.push_back(std::move(outcome));
        changed.notify_all();
    }
    ended = true;
    changed.notify_all();
}

AsyncCheckpointWriter::AsyncCheckpointWriter(CheckpointStore store, int writer, int writers,
                                             AsyncWriterOptions options)
    : shared_(std::make_shared<Shared>(std::move(store), writer, writers, options)) {
    const BlockedSignals blocked;
    std::thread([shared = shared_] { shared->serve(); }).detach();
}

AsyncCheckpointWriter::~AsyncCheckpointWriter() {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    if (!shared_->changed.wait_for(lock, shared_->options.shutdown_timeout, [&] { return shared_->ended; })) {
        spdlog::error("the checkpoint of step {} is still not written after {} s: left behind", shared_->step,
                      shared_->options.shutdown_timeout.count());
    }
}

void AsyncCheckpointWriter::reserve(std::uint64_t bytes) {
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->in_flight()) {
        shared_->snapshot.reserve(bytes);
    }
}

bool AsyncCheckpointWriter::start(std::uint64_t step, const State& state, Seconds patience) {
    std::unique_lock lock(shared_->mutex);
    if (!shared_->changed.wait_for(lock, patience, [&] { return !shared_->in_flight(); })) {
        return false;
    }
    shared_->snapshot.prepare(state);
    shared_->step = step;
    shared_->copied = false;
    shared_->pending = true;
    shared_->changed.notify_all();
    return true;
}

bool AsyncCheckpointWriter::wait_copied(Seconds timeout) {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, timeout, [&] { return shared_->copied; });
}

bool AsyncCheckpointWriter::submit(std::uint64_t step, const State& state, Seconds patience) {
    return start(step, state, patience) && wait_copied(shared_->options.shutdown_timeout);
}

bool AsyncCheckpointWriter::busy() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->in_flight();
}

std::optional<WriteOutcome> AsyncCheckpointWriter::poll() {
    return wait(Seconds(0));
}

std::optional<WriteOutcome> AsyncCheckpointWriter::wait(Seconds timeout) {
    std::unique_lock lock(shared_->mutex);
    if (!shared_->changed.wait_for(lock, timeout, [&] { return !shared_->outcomes.empty(); })) {
        return std::nullopt;
    }
    WriteOutcome outcome = std::move(shared_->outcomes.front());
    shared_->outcomes.pop_front();
    return outcome;
}

}  // namespace mastic::checkpoint
