// Remembers what some nodes did in a stretch of time, for a picture.
#pragma once

#include <optional>
#include <vector>

#include <mastic/schedule/replay.hpp>

namespace mastic::schedule {

class SpanRecorder {
  public:
    // `watched` ascending; only what happens between `from` and `to` is kept.
    SpanRecorder(std::vector<int> watched, double from, double to);

    void set(int node, double now, NodeSpan::Kind kind, JobId job);  // from now on it does this
    void clear(int node, double now);                                // it is not idle any more
    std::vector<NodeSpan> finish(double now);

  private:
    std::optional<std::size_t> index_of(int node) const;
    void close(std::size_t index, double now);

    std::vector<int> watched_;
    double from_;
    double to_;
    std::vector<std::optional<NodeSpan>> open_;
    std::vector<NodeSpan> closed_;
};

}  // namespace mastic::schedule
