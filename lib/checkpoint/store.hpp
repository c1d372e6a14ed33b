// Checkpoints of one run in one directory: written by several writers in two phases, restored by any number
// of readers. The caller coordinates the ranks; nothing here communicates.
//
//   writers   each rank: record = store.write_shard(step, rank, ranks, state)       gather to_text(record)
//             one rank:  store.commit({step, samples, ranks, facts}, records)       or store.abandon(step) if
//             one failed
//   readers   one rank:  newest = store.newest_valid()                              broadcast its step
//             each rank: store.restore(Selection::at_step(step))
//
// A generation becomes visible by one rename, after it was read back; a process killed anywhere leaves the
// previous one. Directory layout: generation.hpp. Errors of writing are Error(io) and leave no file behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mastic/checkpoint/durable_file.hpp>
#include <mastic/checkpoint/generation.hpp>
#include <mastic/checkpoint/manifest.hpp>
#include <mastic/checkpoint/retention.hpp>
#include <mastic/checkpoint/state.hpp>

namespace mastic::checkpoint {

struct StoreOptions {
    std::uint64_t image_bytes = std::uint64_t{256} << 20;
    RetentionRules retention;
    std::function<std::string()> now;  // ISO 8601 in UTC; default: the system clock
    // For tests. Points, in order: those of write_durably for each image, "shard-written",
    // "manifest-written", "generation-proven", "old-set-aside" (only if the step existed),
    // "generation-visible", "generation-committed", "old-hidden", "old-removed" (both for each generation
    // that is removed).
    FaultPoint fault_point;
};

struct GenerationInfo {
    std::uint64_t step = 0;
    std::uint64_t samples = 0;
    int world_size = 1;
    std::string facts = "{}";
};

struct CommitReport {
    std::vector<std::uint64_t> removed;  // steps that retention removed
    std::string note;                    // not empty: why retention was left undone; the commit itself holds
};

struct Selection {
    enum class Kind { newest, best, step };
    Kind kind = Kind::newest;
    std::uint64_t step = 0;
    static Selection newest() { return {}; }
    static Selection best() { return {Kind::best, 0}; }
    static Selection at_step(std::uint64_t step) { return {Kind::step, step}; }
};

struct Skipped {
    std::string generation;  // "step-000000001234"
    std::string reason;
};

struct ValidGeneration {
    GenerationPath generation;
    CheckpointManifest manifest;
    std::vector<Skipped> skipped;  // newer ones that are not usable
};

struct Restored {
    State state;
    CheckpointManifest manifest;
    std::vector<Skipped> skipped;
};

class CheckpointStore {
  public:
    // Touches nothing: the directory is made by the first write.
    explicit CheckpointStore(std::filesystem::path directory, StoreOptions options = {});

    const std::filesystem::path& directory() const { return directory_; }

    // Removes what a killed run left: unfinished generations and temporary files. By one rank, before any
    // write.
    void remove_leftovers() const;

    // Writes this writer's part of the state (its facts are ignored) as images of bounded size, durably. If
    // it fails, nothing of it is left. Writers may run at the same time.
    ShardRecord write_shard(std::uint64_t step, int writer, int writers, const State& state) const;

    // By one rank, once all records are there (one per writer): proves what was written by reading it back,
    // makes it visible, then applies retention. A committed generation of the same step is replaced. Throws
    // Error(io) if it does not read back, Error(checkpoint) if the slices leave a gap or overlap,
    // Error(usage) for missing or doubled writers; nothing of it is left then.
    CommitReport commit(const GenerationInfo& info, std::span<const ShardRecord> records) const;

    // By one rank, when a writer failed: removes what the others wrote for this step.
    void abandon(std::uint64_t step) const;

    // The generation that retention never removes and Selection::best() restores.
    void pin_best(std::uint64_t step) const;
    // Empty if none is pinned. Throws Error(checkpoint) if best.json is damaged.
    std::optional<std::uint64_t> best() const;

    // Hides and removes the generations newer than `step`: for a run that goes back on purpose.
    void discard_newer_than(std::uint64_t step) const;

    // All committed generations, newest first; nothing is proven.
    std::vector<GenerationPath> list() const;

    // Reads and proves, newest first. Empty if no generation exists at all. Throws Error(checkpoint) listing
    // each with its reason if some exist but none is usable.
    std::optional<ValidGeneration> newest_valid() const;

    // As newest_valid, and loads it (load_generation). For a pinned or numbered one only that one is tried,
    // and its absence is Error(checkpoint), unless the directory holds no generation at all.
    std::optional<Restored> restore(const Selection& selection = Selection::newest(),
                                    const NameFilter& wanted = nullptr) const;

  private:
    std::filesystem::path path(std::uint64_t step, GenerationStatus status) const;
    void pass(const char* point) const;
    void publish(std::uint64_t step) const;
    CommitReport retain(std::uint64_t proven) const;
    void remove_generation(const GenerationPath& generation) const;
    std::vector<GenerationPath> candidates(const Selection& selection) const;

    std::filesystem::path directory_;
    StoreOptions options_;
};

}  // namespace mastic::checkpoint
