// What a member keeps for others: the reduced buckets of the last step, for those that missed it; and for each newcomer a
// snapshot and the buckets of all steps after it, until it has fetched them. Thread-safe: the trainer fills it, transfers
// read it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/elastic/blob.hpp>
#include <mastic/elastic/generation.hpp>

namespace mastic::elastic {

struct BulkRequest {
    enum class What { snapshot, step, boundary };
    What what = What::snapshot;
    std::string member = {};   // who asks
    Step step = -1;            // of the snapshot: -1: a new one
    std::uint64_t offset = 0;  // where to begin, of an interrupted transfer
    GenerationId known = 0;    // the newest generation that it is part of; boundary: the one whose beginning is asked for
};

struct BulkAnswer {
    enum class Status {
        data,      // `blob`, of `step`
        switched,  // `generation`, which lists the one that asks, begins after `step`; where a step was asked for, that is this one
                   // or the one before, and the generation one that it does not know
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
    // `most`: what newcomers that are slow may make it keep; beyond, they must begin anew. `expect_snapshot` is called when one
    // asks for a snapshot, before the trainer's side hears of it.
    explicit StepLog(std::function<void()> expect_snapshot = [] {}, Bytes most = Bytes{std::uint64_t{4} << 30})
        : most_(most), expect_snapshot_(std::move(expect_snapshot)) {}

    // The trainer's side. Step `step` is complete, and this is what was applied.
    void keep(Step step, Blob reduced);
    // `generation` begins after `step`; before keep(step) where newcomers are to enter it at once.
    void mark(const Generation& generation, Step step);
    // The run begins anew, maybe from an earlier step.
    void forget_all();
    bool snapshot_wanted() const;
    void offer_snapshot(Step step, Blob snapshot);

    // The other side: waits for what is asked for, for at most `patience`.
    BulkAnswer answer(const BulkRequest& request, Seconds patience);
    // The member is still fetching. Of one that has not asked for `most_idle` nothing is kept.
    void touch(const std::string& member);
    static constexpr Seconds most_idle{15};

  private:
    bool asks_for_a_new_snapshot(const BulkRequest& request) const;
    BulkAnswer find(const BulkRequest& request);
    void drop_unneeded();
    void forget_finished(Step step);

    const Bytes most_;
    const std::function<void()> expect_snapshot_;
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
