#include <mastic/schedule/manager/manager.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <spdlog/spdlog.h>

#include <mastic/core/duration.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>
#include <mastic/schedule/manager/inbox_service.hpp>
#include <mastic/schedule/manager/sweep_control.hpp>

namespace mastic::schedule {
namespace {

constexpr double time_to_end_s = 30;  // of pilots of a training that is done
constexpr double first_learning_s = 3600;
constexpr double longest_away_s = 3600;  // as the default of pilot.time: no pilot is left then
constexpr double most_between_looks_s = 60;  // that a manager which can see lets pass between two

std::string how_it_ended(const PilotEnd& end) {
    if (!end.code) {
        return "was ended before it could say a code";
    }
    return "code " + std::to_string(*end.code);
}

// One that leaves before its time limit does so well ahead of it.
bool was_taken_away(const PilotEnd& end, double now_s) {
    constexpr double margin_s = 180;
    const bool stopped = !end.code || *end.code == static_cast<int>(ExitCode::requeue);
    const bool at_limit = end.pilot.end_s > 0 && now_s > end.pilot.end_s - margin_s;
    return stopped && end.pilot.state == Pilot::State::running && !at_limit;
}

std::vector<std::string> jobs_of(const ManagedTraining& training) {
    std::vector<std::string> jobs;
    std::ranges::transform(training.pilots(), std::back_inserter(jobs), &Pilot::job);
    return jobs;
}

// What is decided without one of them cannot be undone.
void require_read(const std::vector<Training>& trainings) {
    for (const Training& training : trainings) {
        if (training.unread) {
            throw Error(ExitCode::io, training.problem);
        }
    }
}

}  // namespace

Manager::Manager(const StateDirectory& state, ManagerOptions options, ManagerParts parts)
    : state_(state),
      options_(std::move(options)),
      parts_(std::move(parts)),
      poller_(parts_.run, options_.polling, parts_.clocks),
      fleet_(options_.pilot, {state.id(), parts_.user, state.pilots(), parts_.program_directory}, parts_.run),
      spare_(options_.spare),
      policy_(require_named(policy_kinds(), options_.policy_name, "policy").make(options_.policy)) {
    take_over();
    if (!options_.only_say) {
        state.forget_drafts();
        events_.emplace(state.events_file());
    }
}

void Manager::take_over() {
    for (const Event& event : read_events(state_.events_file()).events) {
        const JobId id = event.training.empty() ? -1 : id_of(event.training);
        switch (event.kind) {
            case EventKind::node_idle:
                nodes_.was_idle(event.node, event.time_s);
                break;
            case EventKind::node_taken:
                nodes_.was_taken(event.node, event.time_s);
                break;
            case EventKind::progress:
                policy_->observe(id, event.to, event.rate, shortest_steady_run_s);
                break;
            case EventKind::training_ended:
                policy_->finished(id);
                break;
            default:
                break;
        }
    }
    round_ = state_.round().value_or(RoundRecord{});
    for (const Training& training : state_.trainings()) {
        fleet_.remember(recorded_pilots(training));
    }
    last_round_s_ = round_.time_s;
    next_learning_s_ = parts_.now_s() + first_learning_s;
    if (!options_.pilot.qos.empty()) {
        std::string problem;
        limits_ = ask_qos_limits(options_.pilot.qos, parts_.run, problem);
        if (!problem.empty()) {
            spdlog::warn("limits of the QOS {} are not known: {}", options_.pilot.qos, problem);
        }
    }
}

JobId Manager::id_of(const std::string& training) {
    return ids_.emplace(training, static_cast<JobId>(ids_.size())).first->second;
}

bool Manager::round() {
    bool shutdown = false;
    problem_.clear();
    const bool saw = std::exchange(sees_, false);
    const double begin_s = parts_.now_s();
    look_for_state(begin_s);
    complain(away_);
    try {
        if (away_.empty() && events_) {
            shutdown = serve_inbox(state_, begin_s, &*events_);
        }
        if (away_.empty()) {
            work(saw, begin_s);
        }
    } catch (const Error& error) {
        complain(error.full_message());
        is_stale_ = true;
    } catch (const std::exception& error) {
        complain(error.what());
        is_stale_ = true;
    }
    tell_problem();
    return shutdown;
}

// It lies on a file system whose server may be away for a while.
void Manager::look_for_state(double now_s) {
    try {
        state_.check();
        if (is_stale_ && events_) {
            events_ = EventLog(state_.events_file());
        }
        is_stale_ = false;
    } catch (const std::exception& error) {
        state_is_away(error.what(), now_s);
        return;
    }
    if (away_since_s_) {
        const std::string was = "the state directory was away for " + human(Seconds(now_s - *away_since_s_));
        spdlog::info("{}, and is back", was);
        say(EventKind::problem, was);
        away_since_s_.reset();
        away_.clear();
    }
}

void Manager::state_is_away(const std::string& why, double now_s) {
    const std::string what = "the state directory " + state_.path().string();
    is_stale_ = true;
    if (!away_since_s_) {
        away_since_s_ = now_s;
        away_ = what + " is away: " + why + "; nothing is changed until it is back";
    }
    const double away_s = now_s - *away_since_s_;
    if (away_s >= longest_away_s) {
        throw Error(ExitCode::io, what + " has been away for " + human(Seconds(away_s)) + ": " + why,
                    "when it is back: mastic-rescale serve " + state_.path().string());
    }
}

void Manager::work(bool saw, double begin_s) {
    reload(begin_s);
    look_at_trainings(begin_s);
    const bool fresh = poller_.poll();
    const double now_s = parts_.now_s();  // Slurm may have taken its time
    if (fresh) {
        see(*poller_.view(), now_s);
    }
    complain(poller_.problem());
    listen(saw, now_s);
    charge(now_s);
    update_pilots(now_s);
    if (poller_.view()) {  // before the first one, the numbers of pilots that are remembered may be those of other jobs
        end_silent_pilots(now_s);
        end_trainings(now_s);
    }
    if (fresh) {
        decide(*poller_.view(), now_s);
    }
    complain(refusals_ > 0 ? refusal_ : "");
    complain(options_.only_say || !poller_.view() ? "" : fleet_.insist(now_s));
    update_pilots(now_s);
    write_down(now_s);
}

bool Manager::all_ended() const {
    return fleet_.pilots().empty() && std::ranges::all_of(trainings_, [](const auto& entry) {
               return has_ended(entry.second.training().record.state);
           });
}

// Trainings that have ended, and whose pilots are gone, are left alone.
void Manager::reload(double now_s) {
    drained_ = state_.drained();
    std::vector<Training> all = state_.trainings();
    require_read(all);
    verdicts_ = sweep_verdicts(all);
    std::erase_if(trainings_, [&all](const auto& known) {
        return std::ranges::find(all, known.first, &Training::id) == all.end();
    });
    for (Training& training : all) {
        const std::string id = training.id;
        const auto known = trainings_.find(id);
        if (has_ended(training.record.state) && fleet_.pilots_of(id).empty()) {
            if (known != trainings_.end()) {
                trainings_.erase(known);
            }
            continue;
        }
        if (!training.problem.empty()) {
            complain(training.problem);
        }
        written_[id] = to_json(training.record);
        if (known != trainings_.end()) {
            known->second.reload(std::move(training));
            continue;
        }
        if (!ids_.contains(id)) {
            log({.kind = EventKind::training_submitted, .training = id}, now_s);
        }
        trainings_.emplace(id, ManagedTraining(std::move(training), id_of(id)));
    }
}

void Manager::look_at_trainings(double now_s) {
    for (auto& [id, training] : trainings_) {
        for (const SteadyRun& run : training.look(now_s)) {
            policy_->observe(training.id(), run.nodes, run.rate, run.seconds);
            log({.kind = EventKind::progress,
                 .training = id,
                 .to = run.nodes,
                 .samples = training.training().record.samples,
                 .rate = run.rate},
                now_s);
        }
    }
}

void Manager::see(const ClusterView& view, double now_s) {
    const FleetChange fleet = fleet_.update(view, now_s);
    for (const PilotEnd& end : fleet.ended) {  // first of all: it is not told again
        if (ManagedTraining* training = find(end.pilot.training)) {
            training->ended(end, fleet_.log_file(end.pilot).string());
        }
    }
    for (const Pilot& pilot : fleet.started) {
        log_pilot(EventKind::pilot_started, pilot, "", now_s);
    }
    for (const PilotEnd& end : fleet.ended) {
        log_pilot(EventKind::pilot_ended, end.pilot, how_it_ended(end), now_s);
    }
    if (std::ranges::any_of(fleet.ended, [now_s](const PilotEnd& end) { return was_taken_away(end, now_s); })) {
        nodes_.others_may_start(now_s);
    }
    NodeWatch::OwnJobs own{.all = fleet_.jobs()};
    for (const Pilot& pilot : fleet_.pilots()) {
        if (pilot.state == Pilot::State::leaving) {
            own.leaving.insert(pilot.job);
        }
    }
    for (const Pilot& pilot : fleet.started) {
        own.young.insert(pilot.job);
    }
    const NodeWatch::Change nodes = nodes_.update(view, own, options_.pilot.partition, now_s);
    for (const std::string& node : nodes.idle) {
        log({.kind = EventKind::node_idle, .node = node}, now_s);
    }
    for (const std::string& node : nodes.taken) {
        const ClusterNode* known = view.find(node);
        log({.kind = EventKind::node_taken,
             .node = node,
             .text = known ? known->why_not : "Slurm does not know it any more"},
            now_s);
    }
    round_.nodes = static_cast<int>(view.nodes.size());
    round_.idle = static_cast<int>(std::ranges::count_if(
        nodes_.nodes(), [](const auto& entry) { return entry.second.held_by.empty(); }));
}

// `pilot` as of the last round. One that waited then and is gone now, without having been told, may have run in between.
bool Manager::may_have_run(const Pilot& pilot) const {
    const auto now = std::ranges::find(fleet_.pilots(), pilot.job, &Pilot::job);
    return pilot.started || (now != fleet_.pilots().end() ? now->started : pilot.state == Pilot::State::pending);
}

// Only what the manager has seen is silence: no round that came late or failed, and no time in which Slurm gave no answer.
void Manager::listen(bool saw, double now_s) {
    sees_ = poller_.view() && poller_.problem().empty();
    if (!saw || !sees_) {
        return;
    }
    const double longest_s = std::max(most_between_looks_s, 2 * options_.polling.interval.count());
    const double seconds = std::clamp(now_s - last_round_s_, 0.0, longest_s);
    for (auto& [id, training] : trainings_) {
        const std::vector<Pilot> pilots = fleet_.pilots_of(id);
        if (std::ranges::any_of(pilots, [this](const Pilot& pilot) {
                return pilot.state == Pilot::State::running && pilot.since_s <= last_round_s_;
            })) {
            training.listen(seconds);
        }
    }
}

// Pilots that have ended since the last round count as if they had run until now: a budget is not exceeded unseen.
void Manager::charge(double now_s) {
    const double since_s = last_round_s_ > 0 ? std::min(last_round_s_, now_s) : now_s;
    const double longest_s = (options_.pilot.longest + options_.pilot.grace).count();  // also if nobody looked for days
    for (auto& [id, training] : trainings_) {
        double seconds = 0;
        for (const Pilot& pilot : training.pilots()) {
            if (may_have_run(pilot)) {
                seconds += std::min(longest_s, now_s - std::max(since_s, std::min(now_s, pilot.submitted_s)));
            }
        }
        training.record().node_seconds += seconds;
        round_.used.charge(seconds, now_s);
    }
    last_round_s_ = now_s;
}

void Manager::update_pilots(double now_s) {
    for (auto& [id, training] : trainings_) {
        const std::vector<PilotRecord> before = training.record().pilots;
        training.set_pilots(fleet_.pilots_of(id), now_s);
        for (const PilotRecord& pilot : training.record().pilots) {
            const auto same = std::ranges::find(before, pilot.job, &PilotRecord::job);
            if (pilot.state == "computing" && (same == before.end() || same->state != pilot.state)) {
                log({.kind = EventKind::pilot_joined, .training = id, .node = pilot.node, .job = pilot.job},
                    now_s);
            }
        }
    }
}

// All of them: where one hangs, the others wait for it.
void Manager::end_silent_pilots(double now_s) {
    const Seconds silence = options_.silence;
    for (auto& [id, training] : trainings_) {
        const auto pilot = std::ranges::find(training.pilots(), Pilot::State::running, &Pilot::state);
        if (silence.count() > 0 && training.record().silent_s >= silence.count() && pilot != training.pilots().end()) {
            training.give_up_silence(silence, fleet_.log_file(*pilot).string());
            send_away(jobs_of(training), "its training has done no step in " + human(silence), now_s);
        }
    }
}

// Trainings that have reached an end, and those whose sweep goes on without them, give their pilots back.
void Manager::end_trainings(double now_s) {
    for (auto& [id, training] : trainings_) {
        const TrainingState before = training.record().state;
        if (const auto verdict = verdicts_.find(id); verdict != verdicts_.end()) {
            training.obey(verdict->second, now_s);
        }
        training.next(options_.most_failures, now_s);
        const TrainingRecord& record = training.record();
        if (has_ended(record.state) && record.state != before) {
            policy_->finished(training.id());
            log({.kind = EventKind::training_ended,
                 .training = id,
                 .samples = record.samples,
                 .text = std::string(to_string(record.state)) + ": " + record.reason},
                now_s);
            spdlog::info("{} is {}: {}", id, to_string(record.state), record.reason);
        }
        const bool is_ending = record.state == TrainingState::done && now_s - record.since_s < time_to_end_s;
        const bool is_over =
            (has_ended(record.state) && !is_ending) || record.state == TrainingState::stopping;
        if (is_over || training.waits()) {
            send_away(jobs_of(training),
                      is_over ? "the training is " + std::string(to_string(record.state))
                              : "its sweep decides first",
                      now_s);
        }
    }
}

void Manager::send_away(const std::vector<std::string>& jobs, const std::string& why, double now_s) {
    std::vector<std::string> told;
    for (const Pilot& pilot : fleet_.pilots()) {
        if (std::ranges::find(jobs, pilot.job) != jobs.end() && pilot.state != Pilot::State::leaving) {
            told.push_back(pilot.job);
            log_pilot(EventKind::pilot_leaving, pilot, why, now_s);
            spdlog::info("{} {} pilot {} of {} from {}: {}", options_.only_say ? "would send" : "sending",
                         pilot.state == Pilot::State::pending ? "back the waiting" : "away the", pilot.job,
                         pilot.training, pilot.node, why);
        }
    }
    if (!options_.only_say) {
        complain(fleet_.send_away(told, now_s));
    }
}

void Manager::write_down(double now_s) {
    if (options_.only_say) {
        return;
    }
    for (auto& [id, training] : trainings_) {
        std::string text = to_json(training.record());
        if (training.training().problem.empty() && text != written_[id]) {
            state_.write_record(id, training.record());
            written_[id] = std::move(text);
        }
    }
    round_.time_s = now_s;
    round_.next_s = now_s + poller_.until_due().count();
    round_.problem = problem_;
    state_.write_round(round_);
}

void Manager::say(EventKind kind, const std::string& text) {
    try {
        log({.kind = kind, .text = text}, parts_.now_s());
    } catch (const Error& error) {  // a full disk, most likely
        spdlog::debug("not in the log of events: {}", error.what());
    }
}

void Manager::log(Event event, double now_s) {
    event.time_s = now_s;
    if (events_) {
        events_->write(event);
    }
}

void Manager::log_pilot(EventKind kind, const Pilot& pilot, const std::string& text, double now_s) {
    log({.kind = kind, .training = pilot.training, .node = pilot.node, .job = pilot.job, .text = text},
        now_s);
}

// The first one of a round counts.
void Manager::complain(const std::string& problem) {
    if (problem_.empty()) {
        problem_ = problem;
    }
}

void Manager::tell_problem() {
    if (problem_ == told_problem_) {
        return;
    }
    told_problem_ = problem_;
    if (problem_.empty()) {
        spdlog::info("all is well again");
        return;
    }
    spdlog::warn("{}", problem_);
    say(EventKind::problem, problem_);
}

ManagedTraining* Manager::find(const std::string& training) {
    const auto found = trainings_.find(training);
    return found == trainings_.end() ? nullptr : &found->second;
}

}  // namespace mastic::schedule
