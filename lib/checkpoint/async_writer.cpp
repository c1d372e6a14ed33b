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

// Of threads, as Linux keeps all of these. Refusals do no harm.

// What training waits for: it takes its share of the core, but interrupts nobody to get it.
void work_in_batches() {
    const sched_param none{};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
}

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

// Owned by the writer and its threads together, so that a thread stuck on a dead file system can be left
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
    // The way of a state through the two threads.
    enum class Stage { none, to_copy, copying, to_write, writing };
    Stage stage = Stage::none;
    bool stop = false;
    int threads = 2;  // that have not ended

    // Belongs to the caller while nothing is in flight, else to the thread whose turn it is.
    Snapshot snapshot;
    std::uint64_t step = 0;
    Seconds copy_time{0};

    bool in_flight() const { return stage != Stage::none; }
    bool copied() const { return stage != Stage::to_copy && stage != Stage::copying; }
    template <class Work>
    void serve(Stage turn, Stage at_work, Stage after, const Work& work);
    void copy();
    void write();
};

void AsyncCheckpointWriter::Shared::copy() {
    const auto begin = Clock::now();
    snapshot.copy(options.copy_threads);
    copy_time = Clock::now() - begin;
}

void AsyncCheckpointWriter::Shared::write() {
    WriteOutcome outcome;
    outcome.step = step;
    outcome.timing.bytes = snapshot.state().bytes();
    outcome.timing.copy = copy_time;
    const auto begin = Clock::now();
    try {
        outcome.record = store.write_shard(step, writer, writers, snapshot.state());
    } catch (...) {
        outcome.error = std::current_exception();
    }
    outcome.timing.write = Clock::now() - begin;
    const std::lock_guard lock(mutex);
    outcomes.push_back(std::move(outcome));
}

// Until stop, and what is in flight then is done.
template <class Work>
void AsyncCheckpointWriter::Shared::serve(Stage turn, Stage at_work, Stage after, const Work& work) {
    std::unique_lock lock(mutex);
    for (;;) {
        changed.wait(lock, [&] { return stage == turn || (stop && !in_flight()); });
        if (stage != turn) {
            break;
        }
        stage = at_work;
        lock.unlock();
        work();
        lock.lock();
        stage = after;
        changed.notify_all();
    }
    --threads;
    changed.notify_all();
}

AsyncCheckpointWriter::AsyncCheckpointWriter(CheckpointStore store, int writer, int writers,
                                             AsyncWriterOptions options)
    : shared_(std::make_shared<Shared>(std::move(store), writer, writers, options)) {
    const BlockedSignals blocked;
    using Stage = Shared::Stage;
    std::thread([shared = shared_] {
        work_in_batches();
        shared->serve(Stage::to_copy, Stage::copying, Stage::to_write, [&] { shared->copy(); });
    }).detach();
    std::thread([shared = shared_] {
        give_way(shared->options.nice);
        shared->serve(Stage::to_write, Stage::writing, Stage::none, [&] { shared->write(); });
    }).detach();
}

AsyncCheckpointWriter::~AsyncCheckpointWriter() {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    if (!shared_->changed.wait_for(lock, shared_->options.shutdown_timeout, [&] { return shared_->threads == 0; })) {
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
    shared_->stage = Shared::Stage::to_copy;
    shared_->changed.notify_all();
    return true;
}

bool AsyncCheckpointWriter::wait_copied(Seconds timeout) {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, timeout, [&] { return shared_->copied(); });
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
