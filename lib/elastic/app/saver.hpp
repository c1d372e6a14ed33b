// Checkpoints of an app: one process writes all of it, in the background.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>

#include <mastic/checkpoint/store.hpp>
#include <mastic/elastic/app/kept_state.hpp>
#include <mastic/elastic/app/options.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::app {

class Saver {
  public:
    // Takes the lock of the run directory, which it makes; Error(io) if another process holds it.
    Saver(const AppOptions& options, const std::string& host);
    ~Saver();  // waits for a save in flight

    // The newest checkpoint, if there is one: returns its step. Throws Error(checkpoint).
    std::optional<std::int64_t> restore(KeptState& state) const;

    bool has(std::int64_t step) const;  // a valid checkpoint of it
    bool due() const;
    // Copies the state and writes it in the background, once the save before is done. Throws what that one met: Error(io).
    void save(const KeptState& state, std::int64_t step);
    void finish();

  private:
    const Seconds every_;
    const job::RunDirectory directory_;
    const job::RunLock lock_;
    const checkpoint::CheckpointStore store_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    std::future<void> writing_;
};

}  // namespace mastic::app
