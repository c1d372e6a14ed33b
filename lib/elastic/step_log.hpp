// What a member keeps for others: the reduced buckets of the last step, for those that missed it; and for each newcomer a
// snapshot and the buckets of all steps after it, until it has fetched them. Thread-safe: the trainer fills it, transfers
// read it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/elastic/blob.hpp>
#include <mastic/elastic/generation.hpp>

namespace mastic::elastic {

struct BulkRequest {
    enum class What { snapshot, step };
    What what = What::snapshot;
    std::string member = {};   // who asks
    Step step = -1;            // of the snapshot: -1: a new one
    std::uint64_t offset = 0;  // where to begin, of an interrupted transfer
    GenerationId known = 0;    // the newest generation that it is part of
};

struct BulkAnswer {
    enum class Status {
        data,      // `blob`, of `step`
        switched,  // the step asked for is of `generation`, which lists the one that asks, and which it does not know
        later,     // not yet: ask again
        gone,      // not kept (any more): begin anew
    };
    Status status = Status::gone;
    Step step = 0;
    GenerationId generation = 0;
    Blob blob{};
    Step newest = 0;  // the last step that this member has completed
};

class StepLog {
  public:
    // What newcomers that are slow may make it keep; beyond, they must begin anew.
    explicit StepLog(Bytes most = Bytes{std::uint64_t{4} << 30}) : most_(most) {}

    // The trainer's side. Step `step` is complete, and this is what was applied.
    void keep(Step step, Blob reduced);
    // `generation` begins after `step`.
    void mark(const Generation& generation, Step step);
    bool snapshot_wanted() const;
    void offer_snapshot(Step step, Blob snapshot);

    // The other side: waits for what is asked for, for at most `patience`.
    BulkAnswer answer(const BulkRequest& request, Seconds patience);
    // The member is still fetching. Of one that has not asked for `most_idle` nothing is kept.
    void touch(const std::string& member);
    static constexpr Seconds most_idle{15};

  private:
    BulkAnswer find(const BulkRequest& request);
    void drop_unneeded();
    void forget_finished(Step step);

    const Bytes most_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Step, Blob> steps_;
    std::map<Step, Blob> snapshots_;
    std::map<Step, Generation> boundaries_;  // which begin after a step
    std::set<std::string> wanting_;          // a snapshot
    std::map<std::string, Step> next_of_;    // newcomers, and the step that each needs next
    std::map<std::string, std::chrono::steady_clock::time_point> last_asked_;  // by those
    std::map<std::string, Step> snapshot_of_;                                  // which one each is fetching
};

}  // namespace mastic::elastic
