// Logs of finished jobs: which jobs ran when on how many nodes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <mastic/schedule/idle_trace.hpp>
#include <mastic/schedule/log_text.hpp>

namespace mastic::schedule {

struct LoggedJob {
    double begin = 0;  // seconds, of the log's own clock
    double end = 0;
    int nodes = 0;
};

struct JobLog {
    std::vector<LoggedJob> jobs;
    int machine_nodes = 0;  // as the log's header says; 0: it does not
};

// Standard Workload Format (Feitelson's archive): fields are submit time (2), wait (3), run time (4), processors (5) of
// at least 18; comment lines start with ';', of which MaxNodes, MaxProcs and UnixStartTime are read. `cores_per_node`
// turns processors into nodes, rounded up; 0: MaxProcs / MaxNodes of the header, else 1. Jobs that never ran (cancelled,
// or run time or processors -1) and rows with too few fields or no numbers are odd.
JobLog parse_swf(std::string_view text, int cores_per_node, OddRows& odd);

// What `sacct -P` (or --parsable2) prints, with a header line that names at least Start, End and NNodes; JobID and State
// are looked at if they are there. Steps (JobID with a point, such as 12.batch) are parts of their jobs and left out
// silently. Rows without times ("Unknown": running or never started), with counts such as 1Mc that are no number, or
// that end before they start are odd. A state such as "CANCELLED by 32874" is fine: the job held its nodes until then.
JobLog parse_sacct(std::string_view text, OddRows& odd);

struct DerivedTrace {
    IdleTrace trace;
    // Node-seconds that the log's jobs used beyond the machine's size: it has more nodes than were said, or the log is
    // not of one machine. They count as no idle nodes.
    double overcommitted_node_seconds = 0;
    int most_used = 0;
};

// The nodes that no job used: of a machine of `nodes` nodes (0: the log's header, else the most used at a time). The
// log does not say which nodes a job had: a job takes those that are idle for the longest, by number among equals, so
// nodes that come together mostly go together.
DerivedTrace idle_trace_of(const JobLog& log, int nodes);

}  // namespace mastic::schedule
