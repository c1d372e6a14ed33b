#include <mastic/schedule/value_table.hpp>

#include <algorithm>

namespace mastic::schedule {

JobValues value_table(const JobState& job, const ThroughputCurve& speed_up, double now_s, double horizon_s,
                      const RescaleCosts& costs) {
    JobValues values{job.nodes.held(), {}};
    for (int n = 0; n <= std::max(job.most, values.current); ++n) {
        const bool allowed = n == 0 || (n >= job.least && n <= job.most);
        values.value.push_back(
            allowed ? job.weight * expected_progress(speed_up, job.nodes, n, job.least, now_s, horizon_s, costs)
                    : not_allowed);
    }
    return values;
}

}  // namespace mastic::schedule
