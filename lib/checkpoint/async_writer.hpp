// Checkpoints written while the training goes on: one background thread copies the state, another one writes it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::checkpoint {

struct AsyncWriterOptions {
    // The thread that writes gives way to the training: nice value (0 to 19) and the lowest best-effort I/O
    // priority. Not 19: beside ranks that poll all the time it would hardly ever run.
    int nice = 10;
    int copy_threads = 1;  // threads of the copy
    // How long the destructor waits for a write in flight, before it lets the thread go on alone.
    Seconds shutdown_timeout{600};
};

struct WriteTiming {
    Seconds copy{0};   // of the state, in the background
    Seconds write{0};  // encoding, writing and syncing, in the background
    std::uint64_t bytes = 0;
};

struct WriteOutcome {
    std::uint64_t step = 0;
    ShardRecord record;        // meaningless if there is an error
    std::exception_ptr error;  // null: written and durable
    WriteTiming timing;
    // The record, or throws the error.
    const ShardRecord& value() const;
};

// One writer's half of CheckpointStore's two phases, asynchronously; the caller commits. Peak memory: one
// copy of the state, kept and reused, and one image. All calls from one thread.
class AsyncCheckpointWriter {
  public:
    AsyncCheckpointWriter(CheckpointStore store, int writer, int writers, AsyncWriterOptions options = {});
    ~AsyncCheckpointWriter();
    AsyncCheckpointWriter(const AsyncCheckpointWriter&) = delete;
    AsyncCheckpointWriter& operator=(const AsyncCheckpointWriter&) = delete;

    // Gets the memory for states of this size now, so that the first submit() need not wait for the kernel's
    // pages.
    void reserve(std::uint64_t bytes);

    // Starts a copy of the state, and then its write, in the background. Until wait_copied() has returned true the caller
    // must not change what the entries view; entries without an owner must also stay alive. While an earlier write is in
    // flight, waits at most `patience` for it (0: refuses at once); false: refused. Throws Error(usage) for entries that
    // check_entry refuses, Error(memory) if the copy does not fit.
    bool start(std::uint64_t step, const State& state, Seconds patience = Seconds(0));
    // True once nothing is being copied.
    bool wait_copied(Seconds timeout);
    // start() and wait_copied(): the caller may change the state at once.
    bool submit(std::uint64_t step, const State& state, Seconds patience = Seconds(0));

    bool busy() const;
    // The oldest outcome that was not handed out yet, if there is one.
    std::optional<WriteOutcome> poll();
    // Waits at most this long for one.
    std::optional<WriteOutcome> wait(Seconds timeout);

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace mastic::checkpoint
