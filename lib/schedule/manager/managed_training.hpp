// A training as the manager has it: what was asked and recorded, what it does, which pilots it has.
#pragma once

#include <string>
#include <vector>

#include <mastic/schedule/manager/pilot_fleet.hpp>
#include <mastic/schedule/manager/progress_watch.hpp>
#include <mastic/schedule/manager/setbacks.hpp>
#include <mastic/schedule/manager/sweep.hpp>
#include <mastic/schedule/manager/training_states.hpp>
#include <mastic/schedule/policy.hpp>

namespace mastic::schedule {

// As a record has them, for the fleet of the next manager.
std::vector<Pilot> recorded_pilots(const Training& training);

class ManagedTraining {
  public:
    ManagedTraining(Training training, JobId id);

    // Its files, as users and their requests may have changed them.
    void reload(Training training);
    // Reads the run directory; one that cannot be read is as one without news.
    std::vector<SteadyRun> look(double now_s);
    // A pilot of it has run for `seconds` until now. Silence adds up over pilots and managers; what cannot be seen is none.
    void listen(double seconds);
    // Its pilots are ended, since it was silent for so long. `log`: of one of them.
    void give_up_silence(Seconds silence, const std::string& log);
    void set_pilots(std::vector<Pilot> pilots, double now_s);
    void ended(const PilotEnd& end, const std::string& log);
    void obey(const Verdict& verdict, double now_s);  // of its sweep
    NextState next(int most_failures, double now_s);

    // Pilots that are members of the run already; pilots join in the order of their jobs.
    bool computes(const Pilot& pilot) const;
    // Without the pilots that leave. `start_s`: from the submission of a pilot until it computes.
    JobState job_state(double now_s, double start_s) const;
    bool may_start(double now_s) const { return now_s >= setbacks_.not_before_s(); }

    const Training& training() const { return training_; }
    TrainingRecord& record() { return training_.record; }
    const std::vector<Pilot>& pilots() const { return pilots_; }
    const Setbacks& setbacks() const { return setbacks_; }
    JobId id() const { return id_; }
    bool waits() const { return waits_; }  // for a verdict
    bool wants_nodes() const;

  private:
    std::size_t members() const;

    Training training_;
    JobId id_;
    ProgressWatch watch_;
    std::string unreadable_;  // why the last look has failed; empty: it has not
    Setbacks setbacks_;
    std::vector<Pilot> pilots_;
    bool pilot_was_done_ = false;
    bool waits_ = false;
};

}  // namespace mastic::schedule
