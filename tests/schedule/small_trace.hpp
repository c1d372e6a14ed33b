// A made-up log of idle nodes for tests: cohorts of nodes come and go together, some partly.
#pragma once

#include <mastic/schedule/idle_trace.hpp>

namespace mastic::schedule::test {

// `cohorts` groups of 1 to 12 of 64 nodes become idle within `span_s`, for 60 s to an hour each.
IdleTrace small_trace(std::uint64_t seed, int cohorts = 120, double span_s = 6 * 3600);

}  // namespace mastic::schedule::test
