// The part of a round that decides: who gets which nodes.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <spdlog/spdlog.h>

#include <mastic/core/error.hpp>
#include <mastic/schedule/manager/manager.hpp>

namespace mastic::schedule {
namespace {

constexpr double time_to_leave_s = 20;  // for a pilot whose node is planned for others
constexpr double learn_every_s = 86'400;
constexpr double longest_refusal_s = 600;
constexpr std::size_t least_events = 20;  // to learn from

// The states of nodes on which jobs come and go. A pilot that starts or ends while Slurm is asked may have any of them. "unknown":
// slurmctld has just been started, and has not heard of the node yet; if nothing comes, it says "down".
bool is_in_service(const ClusterNode* node) {
    constexpr std::array states = {"idle", "planned", "completing", "allocated", "mixed", "unknown"};
    return node != nullptr &&
           std::ranges::any_of(states, [node](const char* state) { return node->state.starts_with(state); });
}

// Of a running one, Slurm's list of jobs says where it is: a node that is not in the list of nodes is a bad answer.
bool is_out_of_service(const ClusterNode* node, const Pilot& pilot) {
    return node != nullptr ? !is_in_service(node) : pilot.state == Pilot::State::pending;
}

// Not in Slurm's sight when it chose the nodes of the job that is about to start: it would take its node from that job, and
// Slurm 22.05 preempts for one job no more than every 15 s.
bool is_fresh(const Pilot& pilot, double now_s) {
    return pilot.state == Pilot::State::pending || (pilot.state == Pilot::State::running && pilot.since_s >= now_s);
}

}  // namespace

void Manager::decide(const ClusterView& view, double now_s) {
    for (const auto& [why, jobs] : pilots_out_of_place(view, now_s)) {
        send_away(jobs, why, now_s);
    }
    update_pilots(now_s);
    learn(now_s);
    const FreeNodes free = free_nodes();
    std::vector<Wish> wishes = wishes_of_trainings(now_s);
    Situation situation{now_s, {}, 0, nodes_.residual_life_s(now_s)};
    int wished = 0;
    for (const Wish& wish : wishes) {
        situation.jobs.push_back(wish.state);
        wished += wish.state.nodes.held();
    }
    const UsableNodes usable = usable_nodes(free.counts, wished, view, now_s);
    situation.free = usable.count;
    const std::vector<Target> targets = checked_decision(*policy_, situation);
    record_targets(wishes, targets, now_s);
    std::vector<WantedNodes> wanted;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        const int most_new = wishes[i].training->may_start(now_s) ? options_.burst : 0;
        wanted.push_back({wishes[i].training->training().id, targets[i].nodes, wishes[i].held, most_new});
    }
    const std::size_t room = room_for_new(now_s);
    const auto most_new = std::min(room, static_cast<std::size_t>(std::max(0, usable.count)));
    const DesiredChanges changes = desired_changes(wanted, free.nodes, most_new);
    if (room > 0 && changes.come.empty()) {
        refusals_ = 0;  // nothing is refused any more
    }
    carry_out(changes, usable.count < 0 ? usable.limit : "its node is worth more elsewhere", now_s);
    round_.spare = spare_.spare(free.counts);
    say_what_is_waited_for(free.nodes.size());
}

void Manager::learn(double now_s) {
    if (now_s < next_learning_s_) {
        return;
    }
    next_learning_s_ = now_s + learn_every_s;
    const IdleTrace recent = nodes_.trace(now_s - learn_every_s, now_s);
    if (recent.events.size() >= least_events) {
        policy_->learn(recent);
    }
}

bool Manager::is_drained(const std::string& node) const {
    return drained_.all || drained_.nodes.contains(node);
}

std::map<std::string, std::vector<std::string>> Manager::pilots_out_of_place(const ClusterView& view,
                                                                             double now_s) const {
    std::map<std::string, std::vector<std::string>> jobs;  // by reason
    const double interval_s = options_.polling.interval.count();
    std::set<std::string> with_pilot;  // nodes: of pilots that run, then of those that wait, the oldest first
    for (const Pilot& pilot : fleet_.pilots()) {
        if (pilot.state == Pilot::State::running) {
            with_pilot.insert(pilot.node);
        }
    }
    for (const Pilot& pilot : fleet_.pilots()) {
        // Where the answer of an sbatch is lost, its job may show only after another one was submitted for the same node.
        const bool waits_behind_another =
            pilot.state == Pilot::State::pending && !with_pilot.insert(pilot.node).second;
        const auto node = nodes_.nodes().find(pilot.node);
        const bool is_usable = node != nodes_.nodes().end();
        const ClusterNode* known = view.find(pilot.node);
        const bool waits_in_vain =
            !is_usable && pilot.state == Pilot::State::pending && now_s - pilot.since_s > 2 * interval_s;
        if (!trainings_.contains(pilot.training)) {
            jobs["its training has ended"].push_back(pilot.job);
        } else if (is_drained(pilot.node)) {
            jobs["its node is drained, as asked"].push_back(pilot.job);
        } else if (is_out_of_service(known, pilot) || waits_in_vain) {
            jobs["its node is " + (known ? known->state : "gone")].push_back(pilot.job);
        } else if (waits_behind_another) {
            jobs["another pilot has its node"].push_back(pilot.job);
        } else if (is_usable && node->second.kept && pilot.state == Pilot::State::pending) {
            jobs["Slurm keeps its node for others"].push_back(pilot.job);
        } else if (is_usable && node->second.wanted && is_fresh(pilot, now_s)) {
            jobs["others are about to start, and need its node"].push_back(pilot.job);
        } else if (is_usable && options_.give_way && node->second.life &&
                   node->second.life->count() < interval_s + time_to_leave_s) {
            jobs["others are about to get its node"].push_back(pilot.job);
        }
    }
    return jobs;
}

Manager::FreeNodes Manager::free_nodes() {
    std::map<std::string, bool> stays;  // of the nodes that pilots have or await: does one of them stay?
    for (const Pilot& pilot : fleet_.pilots()) {
        stays[pilot.node] |= pilot.state != Pilot::State::leaving;
    }
    FreeNodes free;
    for (const auto& [name, node] : nodes_.nodes()) {
        if (const auto pilot = stays.find(name); pilot != stays.end()) {
            ++(pilot->second ? free.counts.held : free.counts.leaving);
            continue;
        }
        ++free.counts.idle;
        const bool lives = !node.life || *node.life >= options_.pilot.shortest;
        if (lives && !node.wanted && !node.kept && !is_drained(name)) {
            free.nodes.push_back({nodes_.number(name), node.since_s});
        }
    }
    free.counts.startable = static_cast<int>(free.nodes.size());
    return free;
}

// How many of them may be used, and where there are more pilots than there may be, how many of the `wished` must go: here, and
// nowhere else, what is left to others and what a budget allows are counted.
Manager::UsableNodes Manager::usable_nodes(const NodesNow& now, int wished, const ClusterView& view, double now_s) {
    const auto held = std::ranges::count_if(
        fleet_.pilots(), [](const Pilot& pilot) { return pilot.state != Pilot::State::leaving; });
    const Allowance allowed = allowed_pilots(view);
    const int more = allowed.pilots - static_cast<int>(held);
    const SpareNodes::Share share = spare_.share(now, now_s);
    limited_by_ = {allowed.reason, share.limit};
    return {std::max(std::min(more, share.pilots), -wished), more < share.pilots ? allowed.reason : share.limit};
}

// A training that has to wait after setbacks keeps what it has. If it waits no longer than pilots of others would need to start, its
// share is kept for it, too: they would have to leave again as soon as they work.
std::vector<Manager::Wish> Manager::wishes_of_trainings(double now_s) {
    std::vector<Wish> wishes;
    for (auto& [id, training] : trainings_) {
        if (!training.wants_nodes()) {
            continue;
        }
        Wish wish{&training, training.job_state(now_s, options_.policy.costs.start_s), {}};
        for (const Pilot& pilot : training.pilots()) {
            if (pilot.state != Pilot::State::leaving) {
                const auto node = nodes_.nodes().find(pilot.node);
                const double since_s =
                    node == nodes_.nodes().end() ? pilot.submitted_s : node->second.since_s;
                wish.held.push_back(
                    {{nodes_.number(pilot.node), since_s}, pilot.job, pilot.state == Pilot::State::pending});
            }
        }
        const int held = wish.state.nodes.held();
        if (!training.may_start(now_s + options_.policy.costs.start_s)) {
            wish.state.most = std::min(wish.state.most, held);
            if (wish.state.most < wish.state.least) {
                continue;
            }
        }
        wish.state.most = std::min(wish.state.most, options_.policy.most);
        wishes.push_back(std::move(wish));
    }
    return wishes;
}

Allowance Manager::allowed_pilots(const ClusterView& view) const {
    const std::set<std::string> own = fleet_.jobs();
    const auto is_other = [&](const auto& job) { return job.user == parts_.user && !own.contains(job.id); };
    const auto others =
        std::ranges::count_if(view.running, is_other) + std::ranges::count_if(view.pending, is_other);
    const PilotsNow now{static_cast<int>(fleet_.pilots().size()), static_cast<int>(others),
                        options_.polling.interval.count(), options_.pilot.grace.count()};
    return allowance(options_.budget, round_.used, limits_, now);
}

void Manager::record_targets(const std::vector<Wish>& wishes, const std::vector<Target>& targets,
                             double now_s) {
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        TrainingRecord& record = wishes[i].training->record();
        const int held = wishes[i].state.nodes.held();
        const Target& target = targets[i];
        const bool is_news = target.nodes != held && target.nodes != record.target;
        record.target = target.nodes;
        if (!target.reason.empty()) {
            record.target_reason = target.reason;
        }
        if (target.reason.starts_with("kept:")) {
            complain(target.reason);
        }
        if (is_news) {
            const std::string& id = wishes[i].training->training().id;
            log({.kind = EventKind::decision,
                 .training = id,
                 .from = held,
                 .to = target.nodes,
                 .text = target.reason},
                now_s);
            spdlog::info("{}: {} -> {} nodes: {}", id, held, target.nodes, target.reason);
        }
    }
}

std::size_t Manager::room_for_new(double now_s) const {
    const auto waiting = std::ranges::count(fleet_.pilots(), Pilot::State::pending, &Pilot::state);
    return now_s < submit_not_before_s_
               ? 0
               : static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, options_.burst - waiting));
}

void Manager::carry_out(const DesiredChanges& changes, const std::string& why_leave, double now_s) {
    send_away(changes.leave, why_leave, now_s);
    for (const Placement& placement : changes.come) {
        if (parts_.must_end() || !submit(placement, now_s)) {
            break;
        }
    }
}

// False: sbatch refuses; it is asked less and less often.
bool Manager::submit(const Placement& placement, double now_s) {
    const UsableNode& node = nodes_.nodes().at(nodes_.name(placement.node.node));
    const Training& training = find(placement.training)->training();
    if (options_.only_say) {
        spdlog::info("would start a pilot of {} on {}", training.id, node.name);
        return true;
    }
    try {
        const Pilot pilot = fleet_.submit(training, node.name, node.life, now_s);
        log_pilot(EventKind::pilot_submitted, pilot, "", now_s);
        refusals_ = 0;
        return true;
    } catch (const Error& error) {
        if (error.code() != ExitCode::environment) {
            throw;
        }
        refusals_ = std::min(refusals_ + 1, 20);
        submit_not_before_s_ =
            now_s + std::min(longest_refusal_s, options_.polling.interval.count() * std::pow(2.0, refusals_));
        refusal_ = error.what();
        return false;
    }
}

void Manager::say_what_is_waited_for(std::size_t free) {
    round_.waits_for.clear();
    for (const std::string& limit : limited_by_) {
        if (!limit.empty()) {
            round_.waits_for.push_back("limited by " + limit);
        }
    }
    if (free == 0) {
        round_.waits_for.emplace_back("no free node is idle for long enough");
    }
    std::map<std::string, int> reasons;
    for (const Pilot& pilot : fleet_.pilots()) {
        if (pilot.state == Pilot::State::pending) {
            ++reasons[pilot.reason.empty() ? "just submitted" : pilot.reason];
        }
    }
    for (const auto& [reason, count] : reasons) {
        round_.waits_for.push_back(std::to_string(count) +
                                   (count == 1 ? " pilot waits: " : " pilots wait: ") + reason);
    }
}

}  // namespace mastic::schedule
