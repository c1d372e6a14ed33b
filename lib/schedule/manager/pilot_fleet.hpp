// The pilots of one manager: which there are, by what Slurm says; submitting them and telling them to go.
//
// Slurm's list of jobs is the truth, whatever was lost on the way: a pilot whose sbatch got no answer is in the next view, and
// so are all of them after the manager's death. Between two views only what was submitted or told since is added.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mastic/core/command.hpp>
#include <mastic/schedule/manager/pilot.hpp>
#include <mastic/schedule/manager/state_directory.hpp>
#include <mastic/schedule/slurm_view.hpp>

namespace mastic::schedule {

struct PilotOptions {
    std::string partition;  // empty: the cluster's default
    std::string account;
    std::string qos;
    Seconds longest{3600};             // time limit of a pilot
    Seconds shortest{120};             // no pilot for a gap that is shorter
    std::int64_t nice = 0;             // 0: nothing is said
    std::vector<std::string> options;  // further ones of sbatch
    Seconds grace{60};                 // after SIGTERM; then the job is cancelled
    Seconds patience{180};             // for a pilot to start; then it is withdrawn
};

struct PilotEnd {
    Pilot pilot;
    std::optional<int> code;  // of mastic-train; none: it was killed before it could say
};

struct FleetChange {
    std::vector<Pilot> started;
    std::vector<PilotEnd> ended;
};

class PilotFleet {
  public:
    struct Owner {
        std::string state_id;
        std::string user;                         // whose jobs count
        std::filesystem::path folder;             // of scripts, logs and codes
        std::filesystem::path program_directory;  // where mastic-train is; empty: the PATH of the nodes
    };
    PilotFleet(PilotOptions options, Owner owner, CommandRunner run);

    // Those that an earlier manager recorded, before the first update().
    void remember(std::vector<Pilot> pilots);

    const std::vector<Pilot>& pilots() const { return pilots_; }
    std::vector<Pilot> pilots_of(const std::string& training) const;
    std::set<std::string> jobs() const;

    // What a view says that was asked for after the last submit().
    FleetChange update(const ClusterView& view, double now_s);

    // Until the node's end, if that comes before the longest time. Throws Error(environment) with what sbatch says, Error(io) if
    // the script cannot be written.
    Pilot submit(const Training& training, const std::string& node, std::optional<Seconds> node_life,
                 double now_s);
    // SIGTERM to those that run, to leave at the next step; the others are withdrawn. Who is told already is told again by
    // insist(). Returns what scancel complained about; it is tried again by insist().
    std::string send_away(const std::vector<std::string>& jobs, double now_s);
    // Cancels those that were told and are still there after the grace time, and withdraws those that wait too long.
    std::string insist(double now_s);

    std::filesystem::path log_file(const Pilot& pilot) const;

  private:
    std::filesystem::path file_prefix(const std::string& training) const {
        return owner_.folder / (training + "-");
    }
    std::optional<int> take_code(const Pilot& pilot) const;
    std::string write_script(const Training& training) const;
    std::vector<std::string> sbatch(const Training& training, const std::string& node, Seconds limit,
                                    const std::string& script) const;
    Pilot* find(const std::string& job);
    std::string cancel(std::vector<std::string> command, const std::vector<std::string>& jobs) const;

    PilotOptions options_;
    Owner owner_;
    CommandRunner run_;
    std::vector<Pilot> pilots_;  // by time of submission
};

}  // namespace mastic::schedule
