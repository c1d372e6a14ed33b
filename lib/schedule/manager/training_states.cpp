#include <mastic/schedule/manager/training_states.hpp>

namespace mastic::schedule {
namespace {

bool has_all_samples(const Training& training, const Progress& progress) {
    return training.order.total_samples > 0 && progress.samples >= training.order.total_samples;
}

// A run that ended well before it was submitted here may have got more to do since: a pilot will tell.
bool has_reached_its_end(const Training& training, const TrainingFacts& facts) {
    return facts.progress.exit_code == 0 &&
           (facts.pilot_was_done || facts.progress.ended_s >= training.order.submitted_s);
}

}  // namespace

NextState next_state(const Training& training, const TrainingFacts& facts, int most_failures) {
    const TrainingState present = training.record.state;
    const std::string samples = std::to_string(facts.progress.samples) + " samples";
    if (has_ended(present)) {
        return {present, ""};
    }
    if (has_reached_its_end(training, facts)) {
        return {TrainingState::done, samples};
    }
    const bool complete = has_all_samples(training, facts.progress);
    if (present == TrainingState::stopping) {
        return facts.pilots > 0 ? NextState{present, ""}
                                : NextState{complete ? TrainingState::done : TrainingState::stopped,
                                            complete ? samples : training.record.reason};
    }
    if (complete) {
        return {TrainingState::stopping, samples + " are enough"};
    }
    if (facts.failures >= most_failures) {
        return {TrainingState::failed,
                std::to_string(facts.failures) +
                    " pilots in a row ended before it came further, the last one with " + facts.last_failure};
    }
    const TrainingState wanted = facts.pilots > 0 ? TrainingState::running : TrainingState::queued;
    return {wanted, wanted == present ? "" : facts.pilots > 0 ? "has pilots" : "waits for nodes"};
}

}  // namespace mastic::schedule
