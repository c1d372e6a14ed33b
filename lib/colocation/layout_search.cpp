#include <mastic/colocation/layout_search.hpp>

#include <cstdio>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
}

// Each rank needs as much again; what others use stays.
bool next_fits(const Trial& trial, double share) {
    if (trial.memory_total.count == 0 || trial.memory_peak.count <= trial.memory_before.count) {
        return true;
    }
    const double own = static_cast<double>(trial.memory_peak.count - trial.memory_before.count);
    return static_cast<double>(trial.memory_before.count) + 2 * own <=
           share * static_cast<double>(trial.memory_total.count);
}

}  // namespace

LayoutChoice choose_layout(const SearchRules& rules, const std::function<Trial(int)>& run) {
    LayoutChoice choice;
    choice.end = "no more than " + std::to_string(rules.most) + " ranks on a device are tried";
    for (int ranks = 1; ranks <= rules.most; ranks *= 2) {
        const Trial trial = run(ranks);
        choice.trials.push_back(trial);
        const std::string name = std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
        if (!trial.problem.empty()) {
            if (ranks == 1) {
                throw Error(ExitCode::environment,
                            "the trial with 1 rank on each device failed: " + trial.problem,
                            "does the program run by itself?");
            }
            choice.end = name + ": " + trial.problem;
            break;
        }
        const double gain = ranks == 1 ? 1 : trial.samples_per_s / choice.samples_per_s - 1;
        if (ranks == 1 || gain > 0) {
            choice.ranks_per_device = ranks;
            choice.samples_per_s = trial.samples_per_s;
        }
        if (gain < rules.least_gain) {
            choice.end = name + (gain < 0 ? " lose " + percent(-gain) : " gain " + percent(gain));
            break;
        }
        if (ranks * 2 <= rules.most && !next_fits(trial, rules.memory_share)) {
            choice.end = std::to_string(2 * ranks) + " ranks would need more memory than " +
                         percent(rules.memory_share) + " of " + human(trial.memory_total);
            break;
        }
    }
    return choice;
}

}  // namespace mastic::colocation
