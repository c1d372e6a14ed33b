#include <mastic/schedule/manager/managed_training.hpp>

#include <algorithm>

#include <spdlog/spdlog.h>

#include <mastic/core/duration.hpp>
#include <mastic/core/error.hpp>

namespace mastic::schedule {

std::vector<Pilot> recorded_pilots(const Training& training) {
    std::vector<Pilot> pilots;
    for (const PilotRecord& record : training.record.pilots) {
        const Pilot::State state = record.state == "pending"   ? Pilot::State::pending
                                   : record.state == "leaving" ? Pilot::State::leaving
                                                               : Pilot::State::running;
        pilots.push_back({record.job, training.id, record.node, state, record.since_s, record.since_s, state != Pilot::State::pending, 0, ""});
    }
    return pilots;
}

ManagedTraining::ManagedTraining(Training training, JobId id)
    : training_(std::move(training)),
      id_(id),
      watch_(training_.order.run_directory, training_.record.known_bytes),
      setbacks_(training_.record.failures, training_.record.samples),
      pilots_(recorded_pilots(training_)) {}

void ManagedTraining::reload(Training training) {
    training_ = std::move(training);
}

std::vector<SteadyRun> ManagedTraining::look(double now_s) {
    std::vector<SteadyRun> runs;
    std::string problem;
    try {
        runs = watch_.look(now_s);
    } catch (const Error& error) {
        problem = error.what();
    }
    if (!problem.empty() && problem != unreadable_) {
        spdlog::warn("{}: {}", training_.id, problem);
    }
    unreadable_ = problem;
    const Progress& progress = watch_.progress();
    setbacks_.progressed(progress.samples);
    TrainingRecord& record = training_.record;
    record.known_bytes = watch_.known();
    record.silent_s = watch_.has_news() ? 0 : record.silent_s;
    record.samples = std::max(record.samples, progress.samples);
    record.planned_samples =
        training_.order.total_samples > 0 ? training_.order.total_samples : progress.planned_samples;
    record.samples_per_s = pilots_.empty() ? 0 : progress.samples_per_s;
    return runs;
}

void ManagedTraining::listen(double seconds) {
    if (unreadable_.empty() && wants_nodes()) {
        training_.record.silent_s += seconds;
    }
}

void ManagedTraining::give_up_silence(Seconds silence, const std::string& log) {
    const std::string what = "no step in " + human(silence);
    setbacks_.hung(what + "; its log is " + log);
    training_.record.silent_s = 0;
    training_.record.target_reason = what + ": its pilots were ended";
}

void ManagedTraining::set_pilots(std::vector<Pilot> pilots, double now_s) {
    pilots_ = std::move(pilots);
    setbacks_.count(now_s);
    TrainingRecord& record = training_.record;
    record.failures = setbacks_.failures();
    record.world_size = static_cast<int>(members());
    record.pilots.clear();
    for (const Pilot& pilot : pilots_) {
        const char* state = pilot.state == Pilot::State::pending   ? "pending"
                            : pilot.state == Pilot::State::leaving ? "leaving"
                            : computes(pilot)                      ? "computing"
                                                                   : "starting";
        record.pilots.push_back({pilot.job, pilot.node, state, pilot.since_s});
    }
}

// One that was told to go has done nothing wrong, unless it says so.
void ManagedTraining::ended(const PilotEnd& end, const std::string& log) {
    pilot_was_done_ |= end.code == 0;
    const bool told = end.pilot.state == Pilot::State::leaving;
    if (!told) {
        setbacks_.ended(end, log);
    }
}

void ManagedTraining::obey(const Verdict& verdict, double now_s) {
    TrainingRecord& record = training_.record;
    waits_ = verdict.kind == Verdict::Kind::wait;
    if (waits_) {
        record.target = 0;
        record.target_reason = verdict.reason;
    }
    const bool goes_on = record.state == TrainingState::queued || record.state == TrainingState::running;
    if (verdict.kind == Verdict::Kind::stop && goes_on) {
        record.state = TrainingState::stopping;
        record.since_s = now_s;
        record.reason = verdict.reason;
    }
}

NextState ManagedTraining::next(int most_failures, double now_s) {
    const NextState next = next_state(
        training_,
        {pilots_.size(), watch_.progress(), pilot_was_done_, setbacks_.failures(), setbacks_.last()},
        most_failures);
    TrainingRecord& record = training_.record;
    if (next.state != record.state) {
        record.state = next.state;
        record.since_s = now_s;
        record.reason = next.reason;
    }
    return next;
}

bool ManagedTraining::wants_nodes() const {
    return training_.problem.empty() && !waits_ && (training_.record.state == TrainingState::queued ||
                                         training_.record.state == TrainingState::running);
}

// The newest step tells how many there are, if it was done by pilots of now.
std::size_t ManagedTraining::members() const {
    const auto first = std::ranges::find_if(
        pilots_, [](const Pilot& pilot) { return pilot.state != Pilot::State::pending; });
    const Progress& progress = watch_.progress();
    return first == pilots_.end() || progress.seen_s <= first->submitted_s
               ? 0
               : static_cast<std::size_t>(progress.world_size);
}

bool ManagedTraining::computes(const Pilot& pilot) const {
    std::size_t before = 0;
    for (const Pilot& other : pilots_) {
        if (other.job == pilot.job) {
            return pilot.state != Pilot::State::pending && before < members();
        }
        before += other.state != Pilot::State::pending ? 1 : 0;
    }
    return false;
}

JobState ManagedTraining::job_state(double now_s, double start_s) const {
    JobState state;
    state.id = id_;
    state.least = training_.order.least;
    state.most = training_.order.most;
    state.weight = training_.order.weight;
    for (const Pilot& pilot : pilots_) {
        if (pilot.state == Pilot::State::leaving) {
            continue;
        }
        if (computes(pilot)) {
            ++state.nodes.running;
        } else {
            state.nodes.starting.push_back({1, std::max(now_s, pilot.submitted_s + start_s)});
        }
    }
    std::ranges::sort(state.nodes.starting, {}, &StartingNodes::ready_s);
    return state;
}

}  // namespace mastic::schedule
