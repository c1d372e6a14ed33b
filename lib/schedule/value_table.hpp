// The allocator's problem for a situation: what each job gets done with each count in the time ahead.
#pragma once

#include <vector>

#include <mastic/schedule/allocator.hpp>
#include <mastic/schedule/policy.hpp>

namespace mastic::schedule {

// By expected_progress() times the job's weight, with the throughput given, relative to one node.
JobValues value_table(const JobState& job, const ThroughputCurve& speed_up, double now_s, double horizon_s,
                      const RescaleCosts& costs);

}  // namespace mastic::schedule
