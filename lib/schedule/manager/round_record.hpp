// What the manager knew and wanted at its last round, for `status`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mastic::schedule {

struct RoundRecord {
    double time_s = 0;                   // seconds since 1970
    double next_s = 0;                   // when the next one is due
    int nodes = 0;                       // of the cluster, or of the partitions that it may use
    int idle = 0;                        // of them, without its pilots
    std::vector<std::string> waits_for;  // "12 pilots are pending", "no node is idle"
    std::string problem;                 // why Slurm could not be asked or a decision failed; empty: nothing
    double node_seconds = 0;             // that all pilots have had so far
    double node_seconds_today = 0;
    double today_s = 0;  // midnight (UTC) before this round
};

std::string to_json(const RoundRecord& record);
// Throws Error(data) naming `where`.
RoundRecord parse_round_record(std::string_view json, const std::string& where);

}  // namespace mastic::schedule
