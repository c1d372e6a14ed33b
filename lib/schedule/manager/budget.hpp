// How many pilots there may be: node-hours that are granted, the user's own limit, those of the QOS. Pure, but for asking.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/config/schema.hpp>
#include <mastic/core/command.hpp>

namespace mastic::schedule {

struct BudgetOptions {
    double node_hours = 0;          // of all pilots, ever; 0: no limit
    double node_hours_per_day = 0;  // from midnight (UTC) to midnight; 0: no limit
    int most_pilots = 0;            // at a time, waiting ones too; 0: no limit
};

// Section [budget]. `options` must outlive the schema.
void declare_budget(config::Schema& schema, BudgetOptions& options);

struct BudgetUse {
    double node_seconds = 0;
    double node_seconds_today = 0;
    double today_s = 0;  // when that day began; seconds since 1970

    // `added` node-seconds that end at `now_s`; all of them count for the day that it is then.
    void charge(double added, double now_s);
};

// Of a QOS, for all jobs of the user (or of all its users) in it. Empty: no limit, or not known.
struct QosLimits {
    std::optional<int> jobs;       // that run: MaxJobsPU, GrpJobs
    std::optional<int> submitted;  // that run or wait: MaxSubmitPU, GrpSubmit
    std::optional<int> nodes;      // MaxTRESPU and GrpTRES, node=
};

// One row of `sacctmgr --noheader --parsable2 show qos NAME format=...` in the format of qos_command.
QosLimits parse_qos_limits(std::string_view answer);
std::vector<std::string> qos_command(const std::string& qos);
// Without accounting there are no such limits: nothing is known then, and `problem` says why.
QosLimits ask_qos_limits(const std::string& qos, const CommandRunner& run, std::string& problem);

struct Allowance {
    int pilots = 0;      // that may exist, waiting and running ones
    std::string reason;  // what limits them, for people: "budget.most_pilots"; empty: nothing
};

struct PilotsNow {
    int pilots = 0;         // that exist
    int other_jobs = 0;     // of the same user in the same QOS
    double round_s = 10;    // until the next look
    double leaving_s = 30;  // a pilot that is told to go may take so long
};

// At each look all pilots must still be able to leave, and those that stay to go on until the next look: then a budget of
// node-hours is never exceeded by pilots that obey.
Allowance allowance(const BudgetOptions& options, const BudgetUse& use, const QosLimits& limits,
                    const PilotsNow& now);

}  // namespace mastic::schedule
