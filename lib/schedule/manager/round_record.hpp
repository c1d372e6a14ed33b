// What the manager knew and wanted at its last round, for `status`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/schedule/manager/budget.hpp>

namespace mastic::schedule {

struct RoundRecord {
    double time_s = 0;                   // seconds since 1970
    double next_s = 0;                   // when the next one is due
    int nodes = 0;                       // of the cluster, or of the partitions that it may use
    int idle = 0;                        // of them, without its pilots
    int spare = 0;                       // of the idle ones, left to others
    std::vector<std::string> waits_for;  // "12 pilots are pending", "no node is idle"
    std::string problem;                 // why Slurm could not be asked or a decision failed; empty: nothing
    BudgetUse used;                      // by all pilots so far
};

std::string to_json(const RoundRecord& record);
// Throws Error(data) naming `where`.
RoundRecord parse_round_record(std::string_view json, const std::string& where);

}  // namespace mastic::schedule
