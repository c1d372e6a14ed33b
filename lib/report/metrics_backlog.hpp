// Records of a process that does not write metrics.jsonl, but may have to: when the one that writes it goes, the history
// has no hole.
#pragma once

#include <deque>

#include <mastic/report/metrics.hpp>

namespace mastic::report {

class MetricsBacklog {
  public:
    // Of the records the newest 4,096 are kept; a step that is done again replaces what came at and after it. Events
    // are the writer's own and are not kept.
    void keep(const MetricsRecord& record);

    // Writes what is later than `written` has it, with `time_s` 0: how long another process trained is not known
    // here. Empty afterwards.
    void hand_to(MetricsWriter& writer, const Metrics& written);

  private:
    std::deque<MetricsRecord> newest_;
};

}  // namespace mastic::report
