#include <mastic/schedule/manager/budget.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mastic/report/number_format.hpp>
#include <mastic/schedule/log_text.hpp>

namespace mastic::schedule {
namespace {

constexpr double hour_s = 3600;
constexpr double day_s = 86'400;
constexpr int no_limit = std::numeric_limits<int>::max();

void limit(std::optional<int>& least, std::string_view text) {
    if (const auto number = parse_integer(text)) {
        const int value = static_cast<int>(std::clamp<std::int64_t>(*number, 0, no_limit));
        least = std::min(least.value_or(no_limit), value);
    }
}

// "cpu=64,node=5" -> "5"
std::string_view nodes_of_tres(std::string_view tres) {
    for (const std::string_view part : split(tres, ',')) {
        if (part.starts_with("node=")) {
            return part.substr(5);
        }
    }
    return {};
}

void take(Allowance& so_far, double pilots, const std::string& reason) {
    if (pilots < so_far.pilots) {
        so_far = {static_cast<int>(std::max(0.0, std::floor(pilots))), reason};
    }
}

std::string of_hours(double used_s, double granted_hours, const char* when) {
    return report::significant(used_s / hour_s, 3) + " of " + report::significant(granted_hours) +
           " node-hours are used" + when;
}

}  // namespace

void declare_budget(config::Schema& schema, BudgetOptions& options) {
    schema.section("budget",
                   "What pilots may use in all. 0: no limit. Limits of the QOS are obeyed besides.");
    schema.option("budget.node_hours", options.node_hours, "of all pilots, for ever").at_least(0);
    schema
        .option("budget.node_hours_per_day", options.node_hours_per_day,
                "of all pilots, from midnight (UTC) on")
        .at_least(0);
    schema.option("budget.most_pilots", options.most_pilots, "at a time; those that wait in the queue count")
        .at_least(0);
}

void BudgetUse::charge(double added, double now_s) {
    node_seconds += added;
    const double midnight = std::floor(now_s / day_s) * day_s;
    if (midnight != today_s) {  // also back: a clock that was wrong
        today_s = midnight;
        node_seconds_today = 0;
    }
    node_seconds_today += added;
}

std::vector<std::string> qos_command(const std::string& qos) {
    return {"sacctmgr",
            "--noheader",
            "--parsable2",
            "show",
            "qos",
            qos,
            "format=Name,MaxJobsPU,MaxSubmitPU,MaxTRESPU,GrpJobs,GrpSubmit,GrpTRES"};
}

QosLimits parse_qos_limits(std::string_view answer) {
    QosLimits limits;
    const std::vector<std::string_view> fields = split(answer.substr(0, answer.find('\n')), '|');
    if (fields.size() != 7) {
        return limits;
    }
    limit(limits.jobs, fields[1]);
    limit(limits.submitted, fields[2]);
    limit(limits.nodes, nodes_of_tres(fields[3]));
    limit(limits.jobs, fields[4]);
    limit(limits.submitted, fields[5]);
    limit(limits.nodes, nodes_of_tres(fields[6]));
    return limits;
}

QosLimits ask_qos_limits(const std::string& qos, const CommandRunner& run, std::string& problem) {
    const CommandResult result = run(qos_command(qos), Seconds(20));
    if (result.exit_code != 0 || result.output.empty()) {
        problem = "the limits of QOS " + qos + " are not known: " +
                  (result.error.empty() ? "sacctmgr says nothing of it"
                                        : result.error.substr(0, result.error.find('\n')));
        return {};
    }
    return parse_qos_limits(result.output);
}

Allowance allowance(const BudgetOptions& options, const BudgetUse& use, const QosLimits& limits,
                    const PilotsNow& now) {
    Allowance allowed{no_limit, ""};
    if (options.most_pilots > 0) {
        take(allowed, options.most_pilots, "budget.most_pilots");
    }
    const auto hours = [&](double granted, double used_s, const char* when) {
        if (granted > 0) {
            const double left_s = granted * hour_s - used_s;
            const double round_s = std::max(now.round_s, 1.0);
            // A new pilot must be able to leave as well.
            const double with_new_ones = left_s / (round_s + now.leaving_s);
            const double of_present = std::min<double>((left_s - now.pilots * now.leaving_s) / round_s, now.pilots);
            take(allowed, with_new_ones >= now.pilots ? with_new_ones : of_present, of_hours(used_s, granted, when));
        }
    };
    hours(options.node_hours, use.node_seconds, "");
    hours(options.node_hours_per_day, use.node_seconds_today, " today");
    const auto qos = [&](const std::optional<int>& most, const char* what) {
        if (most) {
            take(allowed, *most - now.other_jobs, "the QOS allows " + std::to_string(*most) + " " + what);
        }
    };
    qos(limits.jobs, "running jobs");
    qos(limits.submitted, "jobs");
    qos(limits.nodes, "nodes");
    return allowed;
}

}  // namespace mastic::schedule
