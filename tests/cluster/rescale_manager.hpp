// mastic-rescale serve on the controller of a cluster, and trainings on the small task of tests/engine that it manages.
#pragma once

#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include <mastic/schedule/manager/event_log.hpp>
#include <mastic/schedule/manager/state_directory.hpp>

#include "cluster/train_job.hpp"

namespace mastic::test {

class RescaleManager {
  public:
    RescaleManager(const SlurmCluster& cluster, std::filesystem::path state_directory);
    ~RescaleManager();
    RescaleManager(const RescaleManager&) = delete;
    RescaleManager& operator=(const RescaleManager&) = delete;

    const schedule::StateDirectory& state() const { return state_; }
    // For a training of so many steps of batch 16, each sample of which takes `sample_us` more.
    schedule::TrainingOrder order(const std::filesystem::path& run_directory, int steps, int sample_us, int least = 1) const;
    // Returns its id.
    std::string submit(const std::filesystem::path& run_directory, int steps, int sample_us,
                       int least = 1) const;

    // mastic-rescale serve with these options too.
    Arguments command(const Arguments& more = {}) const;
    void start(const Arguments& more = {});  // returns when it holds the directory
    void kill();                             // SIGKILL
    int stop();                              // SIGTERM; returns its exit code
    int wait(Seconds timeout);               // for its end; fails the test if that does not come

    schedule::TrainingRecord record(const std::string& training) const {
        return state_.load(training).record;
    }
    std::vector<schedule::Event> events(schedule::EventKind kind) const;
    std::string log() const;
    bool lives() const { return state_.manager().has_value(); }
    bool wait_for_pilots(int count, const std::string& state) const;  // of all trainings

  private:
    void signal(int number) const;

    const SlurmCluster& cluster_;
    schedule::StateDirectory state_;
    std::filesystem::path log_;
    std::future<CommandResult> running_;
};

}  // namespace mastic::test
