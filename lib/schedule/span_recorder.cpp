#include <mastic/schedule/span_recorder.hpp>

#include <algorithm>

namespace mastic::schedule {

SpanRecorder::SpanRecorder(std::vector<int> watched, double from, double to)
    : watched_(std::move(watched)), from_(from), to_(to), open_(watched_.size()) {}

std::optional<std::size_t> SpanRecorder::index_of(int node) const {
    const auto found = std::ranges::lower_bound(watched_, node);
    return found != watched_.end() && *found == node ? std::optional<std::size_t>(found - watched_.begin())
                                                     : std::nullopt;
}

void SpanRecorder::set(int node, double now, NodeSpan::Kind kind, JobId job) {
    if (const auto index = index_of(node)) {
        close(*index, now);
        open_[*index] = NodeSpan{node, now, now, kind, job};
    }
}

void SpanRecorder::clear(int node, double now) {
    if (const auto index = index_of(node)) {
        close(*index, now);
    }
}

void SpanRecorder::close(std::size_t index, double now) {
    if (std::optional<NodeSpan>& open = open_[index]) {
        open->begin = std::max(open->begin, from_);
        open->end = std::min(now, to_);
        if (open->end > open->begin) {
            closed_.push_back(*open);
        }
        open.reset();
    }
}

std::vector<NodeSpan> SpanRecorder::finish(double now) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
        close(i, now);
    }
    std::ranges::stable_sort(closed_, {},
                             [](const NodeSpan& span) { return std::pair(span.node, span.begin); });
    return std::move(closed_);
}

}  // namespace mastic::schedule
