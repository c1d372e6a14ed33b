#include <mastic/comm/operation_queue.hpp>

#include <algorithm>

namespace mastic::comm {

void OperationQueue::push(QueuedOperation entry) {
    entry.number = next_number_++;
    waiting_.push_back(std::move(entry));
}

QueuedOperation* OperationQueue::adopt(QueuedOperation entry) {
    running_.push_back(std::move(entry));
    return &running_.back();
}

const QueuedOperation* OperationQueue::oldest() const {
    const QueuedOperation* oldest = waiting_.empty() ? nullptr : &waiting_.front();
    for (const auto& entry : running_) {
        if (oldest == nullptr || entry.number < oldest->number) {
            oldest = &entry;
        }
    }
    return oldest;
}

bool OperationQueue::lane_is_free(const QueuedOperation& entry) const {
    const auto same_lane = [&entry](const QueuedOperation& other) { return other.lane == entry.lane; };
    return std::none_of(running_.begin(), running_.end(), same_lane) &&
           &*std::find_if(waiting_.begin(), waiting_.end(), same_lane) == &entry;
}

int OperationQueue::inherited_priority(const QueuedOperation& entry) const {
    int priority = entry.priority;
    for (const auto& other : waiting_) {
        if (other.lane == entry.lane) {
            priority = std::max(priority, other.priority);
        }
    }
    return priority;
}

QueuedOperation* OperationQueue::move_to_running(Position position) {
    running_.splice(running_.end(), waiting_, position);
    return &running_.back();
}

QueuedOperation* OperationQueue::start_next(std::uint64_t fence) {
    if (waiting_.empty() || waiting_.front().ticket >= fence) {
        return nullptr;
    }
    const std::uint64_t oldest_waiting = waiting_.front().ticket;
    const bool front_is_oldest =
        std::none_of(running_.begin(), running_.end(),
                     [oldest_waiting](const auto& entry) { return entry.ticket < oldest_waiting; });
    if (front_is_oldest && lane_is_free(waiting_.front())) {
        return move_to_running(waiting_.begin());
    }
    if (running_.size() >= static_cast<std::size_t>(limit_)) {
        return nullptr;
    }
    Position best = waiting_.end();
    int best_priority = 0;
    for (auto entry = waiting_.begin(); entry != waiting_.end() && entry->ticket < fence; ++entry) {
        const int priority = inherited_priority(*entry);
        if (lane_is_free(*entry) && (best == waiting_.end() || priority > best_priority)) {
            best = entry;
            best_priority = priority;
        }
    }
    return best == waiting_.end() ? nullptr : move_to_running(best);
}

std::optional<std::uint64_t> OperationQueue::waiting_fence() const {
    const auto fence =
        std::find_if(waiting_.begin(), waiting_.end(), [](const auto& entry) { return entry.exclusive; });
    return fence == waiting_.end() ? std::nullopt : std::optional(fence->ticket);
}

QueuedOperation* OperationQueue::start_exclusive(std::uint64_t ticket) {
    const auto entry = std::find_if(waiting_.begin(), waiting_.end(),
                                    [ticket](const auto& other) { return other.ticket == ticket; });
    return entry == waiting_.end() ? nullptr : move_to_running(entry);
}

bool OperationQueue::has_older_than(std::uint64_t ticket) const {
    return !running_.empty() || (!waiting_.empty() && waiting_.front().ticket < ticket);
}

std::string OperationQueue::describe(Clock::time_point now) const {
    constexpr std::size_t most = 8;
    std::string text;
    std::size_t listed = 0;
    const auto add = [&](const std::string& entry) {
        if (++listed <= most) {
            text += (text.empty() ? "" : ", ") + entry;
        }
    };
    for (const auto& entry : running_) {
        add("'" + entry.state->name + "' (started " + human(Seconds(now - entry.started)) + " ago)");
    }
    for (const auto& entry : waiting_) {
        add("'" + entry.state->name + "' (waits to start)");
    }
    if (listed > most) {
        text += " and " + std::to_string(listed - most) + " more";
    }
    return text.empty() ? "nothing" : text;
}

}  // namespace mastic::comm
