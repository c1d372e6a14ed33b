// Saving while training goes on, by several writers that agree when a generation is whole.
//
// All ranks call save() at the same step. One rank per node is a writer: it copies its part of the state and writes it in
// the background. Each step's control word tells how many parts are finished; when all are, the ranks exchange the records
// of what they wrote, and rank 0 commits the manifest in the background. Until then the previous generation stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mastic/checkpoint/state.hpp>
#include <mastic/checkpoint/store.hpp>
#include <mastic/comm/group.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/core/trace.hpp>

namespace mastic::engine {

struct SaveRequest {
    std::uint64_t step = 0;
    std::uint64_t samples = 0;
    bool best = false;  // pin it as the best one
};

// Entry i is written by the writer of the result's i-th element: contiguous runs of about equal bytes.
std::vector<int> assign_writers(const std::vector<std::uint64_t>& entry_bytes, int writers);

class Checkpointer {
  public:
    // `hosts`: of all ranks, by rank; the first rank of each is a writer. Rank 0 cleans up what a killed run left. Without
    // hosts nothing is ever saved: another process does it.
    Checkpointer(const std::filesystem::path& directory, const checkpoint::StoreOptions& options,
                 const std::vector<std::string>& hosts, comm::Group& group, Trace& trace);
    ~Checkpointer();

    // Gets the memory for copies of such a state now, so that the first save need not wait for it.
    void reserve(const checkpoint::State& state);

    // Waits for a save that is in flight, then starts this one. What `state` views must not change before wait_copied().
    void save(const SaveRequest& request, const checkpoint::State& state);
    // Until the state of the last save is copied: before the next update of the weights. Error(io) after ten minutes.
    void wait_copied();

    bool in_flight() const;
    // For the control word: this rank has a part of the save in flight, and it is written (or failed).
    bool shard_finished();
    // With what the control word said; the same on all ranks. Collective when all shards are finished. AgreedError(io) if any
    // writer failed, with that writer's message.
    void advance(int shards_finished);
    // Until nothing is in flight and all is durable.
    void finish();

    // Seconds that the last finished save took from start to shards written; empty until one has finished.
    std::optional<Seconds> last_save_time() const;
    Seconds since_save() const;            // since the last one began, or since this was made
    std::int64_t committed_step() const;  // -1: none in this start

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace mastic::engine
