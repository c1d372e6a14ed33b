#include <mastic/schedule/manager/sweep_control.hpp>

#include <mastic/core/error.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::schedule {
namespace {

report::Metrics metrics_of(const std::string& run_directory) {
    try {
        return report::read_metrics(job::RunDirectory(run_directory).metrics_file());
    } catch (const Error&) {
        return {};
    }
}

TrialView view_of(const Training& training) {
    return {training.id, training.record.state, training.record.samples, training.record.planned_samples,
            [directory = training.order.run_directory] { return metrics_of(directory); }};
}

}  // namespace

std::map<std::string, Verdict> sweep_verdicts(const std::vector<Training>& trainings) {
    std::map<std::string, std::vector<const Training*>> sweeps;
    for (const Training& training : trainings) {
        if (!training.order.sweep.empty() && training.order.keep_best > 0 && training.problem.empty()) {
            sweeps[training.order.sweep].push_back(&training);
        }
    }
    std::map<std::string, Verdict> verdicts;
    for (const auto& [sweep, trials] : sweeps) {
        std::vector<TrialView> views;
        for (const Training* trial : trials) {
            views.push_back(view_of(*trial));
        }
        const std::vector<Verdict> judged = judge_sweep(views, trials.front()->order.keep_best);
        for (std::size_t i = 0; i < trials.size(); ++i) {
            verdicts.emplace(trials[i]->id, judged[i]);
        }
    }
    return verdicts;
}

}  // namespace mastic::schedule
