// Asks Slurm for its view again and again, as seldom as a site would want it.
//
// A round is the three commands of view_commands(), one after the other. Rounds begin at least `interval` apart, and so
// far apart that Slurm's controller is busy with us for at most `share` of the time: after a round that took 0.5 s the
// next one begins 50 s later. After an error the interval doubles each time, up to `longest`, and the last view stays.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <mastic/core/command.hpp>
#include <mastic/schedule/slurm_view.hpp>

namespace mastic::schedule {

struct PollerSettings {
    Seconds interval{10};
    double share = 0.01;
    Seconds patience{20};  // for one answer
    Seconds longest{600};
};

// The commands of a round as to be typed, two blanks before each and a line break behind it.
std::string shown_commands();
// The same, and how often: for the log and for --dry-run.
std::string describe_polling(const PollerSettings& settings);

// What is wrong with a view, to the log: odd rows, hidden jobs.
void warn_of(const ClusterView& view);

// One round. Throws Error(environment) if a command fails or does not answer; then the rest is not asked.
ClusterView ask_slurm(const CommandRunner& run, TimePoint now, Seconds patience = Seconds(20));

// The nodes alone. Throws as above.
std::vector<ClusterNode> ask_slurm_nodes(const CommandRunner& run, Seconds patience);

struct PollerClocks {
    std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
    std::function<TimePoint()> wall = std::chrono::system_clock::now;  // which Slurm's times are of
};

class SlurmPoller {
  public:
    using Steady = std::chrono::steady_clock;

    explicit SlurmPoller(CommandRunner run, const PollerSettings& settings = {}, PollerClocks clocks = {});

    // Asks if a round is due, which takes at most three times `patience`. Any thread may call it; while one asks, the
    // others return at once. True: there is a new view. Never throws for what Slurm does.
    bool poll();

    Seconds until_due() const;                        // 0: a round is due
    std::shared_ptr<const ClusterView> view() const;  // the last one; null: none yet
    std::optional<Seconds> age() const;               // of it; empty: none yet
    std::string problem() const;                      // why the last round failed; empty: it did not

  private:
    void succeeded(ClusterView view, Steady::time_point begin);
    void failed(const std::string& problem, Steady::time_point begin);
    void next_after(Seconds interval, Steady::time_point begin, const std::string& why);

    const CommandRunner run_;
    const PollerSettings settings_;
    const PollerClocks clocks_;
    std::mutex asking_;         // held during a round
    mutable std::mutex state_;  // guards the rest
    std::shared_ptr<const ClusterView> view_;
    Steady::time_point view_at_;
    std::optional<Steady::time_point> due_;
    Seconds told_interval_{0};
    int failures_ = 0;      // in a row
    int hidden_views_ = 0;  // in a row, that show nodes in use without their jobs
    std::string problem_;
};

}  // namespace mastic::schedule
