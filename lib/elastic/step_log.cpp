#include <mastic/elastic/step_log.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace mastic::elastic {

void StepLog::keep(Step step, Blob reduced) {
    const std::lock_guard lock(mutex_);
    steps_[step] = std::move(reduced);
    forget_finished(step);
    drop_unneeded();
    changed_.notify_all();
}

void StepLog::mark(const Generation& generation, Step step) {
    const std::lock_guard lock(mutex_);
    boundaries_[step] = generation;
    constexpr std::size_t most_boundaries = 64;
    while (boundaries_.size() > most_boundaries) {
        boundaries_.erase(boundaries_.begin());
    }
    for (const MemberRecord& member : generation.members) {
        wanting_.erase(member.id);
    }
    changed_.notify_all();
}

void StepLog::forget_all() {
    const std::lock_guard lock(mutex_);
    steps_.clear();
    snapshots_.clear();
    boundaries_.clear();
    wanting_.clear();
    next_of_.clear();
    last_asked_.clear();
    snapshot_of_.clear();
}

bool StepLog::snapshot_wanted() const {
    const std::lock_guard lock(mutex_);
    return !wanting_.empty();
}

void StepLog::offer_snapshot(Step step, Blob snapshot) {
    const std::lock_guard lock(mutex_);
    snapshots_[step] = std::move(snapshot);
    for (const std::string& member : std::exchange(wanting_, {})) {
        snapshot_of_[member] = step;
        next_of_[member] = step + 1;
    }
    changed_.notify_all();
}

// The last step stays, and what newcomers need; of them those that hold back the most are given up first.
void StepLog::drop_unneeded() {
    const auto first_needed = [&] {
        Step first = steps_.empty() ? 0 : steps_.rbegin()->first;
        for (const auto& [member, next] : next_of_) {
            first = std::min(first, next);
        }
        return first;
    };
    const auto drop = [&] {
        steps_.erase(steps_.begin(), steps_.lower_bound(first_needed()));
        std::erase_if(snapshots_, [&](const auto& entry) {
            return std::ranges::none_of(snapshot_of_,
                                        [&](const auto& user) { return user.second == entry.first; });
        });
    };
    const auto kept = [&] {
        std::uint64_t bytes = 0;
        for (const auto& [step, blob] : steps_) {
            bytes += blob.size();
        }
        return bytes;
    };
    drop();
    while (!next_of_.empty() && kept() > most_.count) {
        const auto slowest =
            std::ranges::min_element(next_of_, {}, [](const auto& entry) { return entry.second; });
        snapshot_of_.erase(slowest->first);
        next_of_.erase(slowest);
        drop();
    }
}

bool StepLog::asks_for_a_new_snapshot(const BulkRequest& request) const {
    const std::lock_guard lock(mutex_);
    return request.what == BulkRequest::What::snapshot && request.step < 0 && !snapshot_of_.contains(request.member) &&
           !wanting_.contains(request.member);
}

BulkAnswer StepLog::answer(const BulkRequest& request, Seconds patience) {
    if (asks_for_a_new_snapshot(request)) {
        expect_snapshot_();
    }
    std::unique_lock lock(mutex_);
    last_asked_[request.member] = std::chrono::steady_clock::now();
    BulkAnswer answer;
    changed_.wait_for(lock, patience, [&] {
        answer = find(request);
        return answer.status != BulkAnswer::Status::later;
    });
    answer.newest = steps_.empty() ? 0 : steps_.rbegin()->first;
    return answer;
}

BulkAnswer StepLog::find(const BulkRequest& request) {
    using Status = BulkAnswer::Status;
    if (request.what == BulkRequest::What::snapshot) {
        if (request.step >= 0) {
            const auto found = snapshots_.find(request.step);
            return found == snapshots_.end()
                       ? BulkAnswer{.status = Status::gone}
                       : BulkAnswer{.status = Status::data, .step = found->first, .blob = found->second};
        }
        if (const auto mine = snapshot_of_.find(request.member); mine != snapshot_of_.end()) {
            return {.status = Status::data, .step = mine->second, .blob = snapshots_.at(mine->second)};
        }
        wanting_.insert(request.member);
        return {.status = Status::later};
    }
    if (request.what == BulkRequest::What::boundary) {
        const auto begins = std::ranges::find(boundaries_, request.known, [](const auto& entry) { return entry.second.id; });
        return begins != boundaries_.end() && begins->second.lists(request.member)
                   ? BulkAnswer{.status = Status::switched, .step = begins->first, .generation = request.known}
                   : BulkAnswer{.status = Status::later};
    }
    // A newcomer hears of the switch before it gets the last step, if it asks in time. One that knows of it has missed a step.
    for (const Step last : {request.step, request.step - 1}) {
        const auto boundary = boundaries_.find(last);
        if (boundary != boundaries_.end() && boundary->second.lists(request.member) &&
            boundary->second.id > request.known && next_of_.contains(request.member)) {
            return {.status = Status::switched, .step = last, .generation = boundary->second.id};
        }
    }
    if (const auto found = steps_.find(request.step); found != steps_.end()) {
        if (const auto next = next_of_.find(request.member); next != next_of_.end()) {
            next->second = std::max(next->second, request.step);
            snapshot_of_.erase(request.member);
        }
        return {.status = Status::data, .step = found->first, .blob = found->second};
    }
    const bool may_come = steps_.empty() || request.step > steps_.rbegin()->first;
    return {.status = may_come ? Status::later : Status::gone};
}

void StepLog::touch(const std::string& member) {
    const std::lock_guard lock(mutex_);
    last_asked_[member] = std::chrono::steady_clock::now();
}

// Newcomers that have become members some steps ago, or that were lost.
void StepLog::forget_finished(Step step) {
    constexpr Step grace = 16;
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(next_of_, [&](const auto& entry) {
        const std::string& member = entry.first;
        const bool joined = std::ranges::any_of(boundaries_, [&](const auto& boundary) {
            return boundary.first + grace < step && boundary.second.lists(member);
        });
        const bool over = joined || now - last_asked_[member] > most_idle;
        if (over) {
            snapshot_of_.erase(member);
            last_asked_.erase(member);
        }
        return over;
    });
}

}  // namespace mastic::elastic
