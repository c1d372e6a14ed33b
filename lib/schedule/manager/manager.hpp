// Fills the idle nodes of a Slurm cluster with the trainings of a state directory, round by round.
//
// A round applies requests, reads what the trainings have done, asks Slurm if that is due, and then changes what is to be
// changed: checked_decision() says how many nodes each training gets, desired_changes() which pilots come and go. Without a new
// view nothing is decided. All that must not be forgotten is in the state directory, in Slurm's list of jobs or in the run
// directories before the round ends, so a manager may be killed at any moment, and the next one goes on.
//
// A round never throws for what Slurm or a file system does: it keeps the present map and says why in problem(). Only a state
// directory that has been away for an hour ends it: Error(io).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mastic/schedule/manager/budget.hpp>
#include <mastic/schedule/manager/desired_changes.hpp>
#include <mastic/schedule/manager/event_log.hpp>
#include <mastic/schedule/manager/managed_training.hpp>
#include <mastic/schedule/manager/node_watch.hpp>
#include <mastic/schedule/manager/pilot_fleet.hpp>
#include <mastic/schedule/manager/spare_nodes.hpp>
#include <mastic/schedule/manager/state_directory.hpp>
#include <mastic/schedule/manager/sweep.hpp>
#include <mastic/schedule/policy.hpp>
#include <mastic/schedule/slurm_poller.hpp>

namespace mastic::schedule {

struct ManagerOptions {
    PollerSettings polling;
    PilotOptions pilot;
    BudgetOptions budget;
    PolicySettings policy{.costs = live_growth};
    std::string policy_name = "mastic";
    int burst = 16;         // pilots that are submitted in a round
    int spare = 0;          // idle nodes that are left to others
    int most_failures = 3;  // of pilots in a row, then a training is given up
    Seconds silence{600};   // pilots of a training that does no step for so long are ended; 0: never
    bool give_way = false;  // pilots leave nodes before Slurm's plan takes them; else Slurm preempts them
    bool only_say = false;  // what would be done
};

struct ManagerParts {
    CommandRunner run;
    std::function<double()> now_s;  // seconds since 1970, never going back
    PollerClocks clocks;
    std::string user;
    std::filesystem::path program_directory;  // of mastic-train
    std::function<bool()> must_end = [] { return false; };  // asked before each job that is submitted: a slow sbatch delays no end
};

class Manager {
  public:
    // Takes over what an earlier manager left. The caller holds the directory's lock.
    Manager(const StateDirectory& state, ManagerOptions options, ManagerParts parts);

    // True: somebody asked it to end.
    bool round();
    Seconds until_due() const { return poller_.until_due(); }
    bool all_ended() const;
    const std::string& problem() const { return problem_; }
    // To the log of events. What cannot be written there is left out.
    void say(EventKind kind, const std::string& text);

  private:
    struct Wish {
        ManagedTraining* training;
        JobState state;
        std::vector<HeldNode> held;
    };

    void take_over();
    void look_for_state(double now_s);
    void state_is_away(const std::string& why, double now_s);
    void work(bool saw, double begin_s);
    void reload(double now_s);
    void look_at_trainings(double now_s);
    void see(const ClusterView& view, double now_s);
    bool may_have_run(const Pilot& pilot) const;
    void listen(bool saw, double now_s);
    void charge(double now_s);
    void update_pilots(double now_s);
    void end_silent_pilots(double now_s);
    void end_trainings(double now_s);
    void send_away(const std::vector<std::string>& jobs, const std::string& why, double now_s);
    void write_down(double now_s);

    void decide(const ClusterView& view, double now_s);  // and its parts, in manager_decision.cpp
    void learn(double now_s);
    bool is_drained(const std::string& node) const;
    std::map<std::string, std::vector<std::string>> pilots_out_of_place(const ClusterView& view,
                                                                        double now_s) const;
    struct FreeNodes {
        std::vector<IdleNode> nodes;  // on which a pilot could be started
        NodesNow counts;
    };
    FreeNodes free_nodes();
    struct UsableNodes {
        int count = 0;      // that trainings may have more than they have; below 0: so many less
        std::string limit;  // of those that must have less: why
    };
    UsableNodes usable_nodes(const NodesNow& now, int wished, const ClusterView& view, double now_s);
    std::vector<Wish> wishes_of_trainings(double now_s);
    Allowance allowed_pilots(const ClusterView& view) const;
    void record_targets(const std::vector<Wish>& wishes, const std::vector<Target>& targets, double now_s);
    std::size_t room_for_new(double now_s) const;
    void carry_out(const DesiredChanges& changes, const std::string& why_leave, double now_s);
    bool submit(const Placement& placement, double now_s);
    void say_what_is_waited_for(std::size_t free);

    void log(Event event, double now_s);
    void log_pilot(EventKind kind, const Pilot& pilot, const std::string& text, double now_s);
    void complain(const std::string& problem);
    void tell_problem();
    ManagedTraining* find(const std::string& training);
    JobId id_of(const std::string& training);

    const StateDirectory& state_;
    const ManagerOptions options_;
    const ManagerParts parts_;
    SlurmPoller poller_;
    PilotFleet fleet_;
    NodeWatch nodes_;
    SpareNodes spare_;
    std::unique_ptr<Policy> policy_;
    std::optional<EventLog> events_;  // none: only_say
    std::map<std::string, ManagedTraining> trainings_;
    std::map<std::string, std::string> written_;  // records, as they are on disk
    std::map<std::string, JobId> ids_;
    std::map<std::string, Verdict> verdicts_;  // of sweeps
    DrainedNodes drained_;
    RoundRecord round_;
    QosLimits limits_;
    double last_round_s_ = 0;
    bool sees_ = true;  // in the last round Slurm answered and the files could be read
    double next_learning_s_ = 0;
    double submit_not_before_s_ = 0;
    int refusals_ = 0;  // of sbatch, in a row
    std::string refusal_;
    std::vector<std::string> limited_by_;
    std::optional<double> away_since_s_;  // the state directory
    std::string away_;                    // what is said of that; empty: it is there
    bool is_stale_ = false;               // what is open in it: a file may be another one since a round failed
    std::string problem_;
    std::string told_problem_;
};

}  // namespace mastic::schedule
