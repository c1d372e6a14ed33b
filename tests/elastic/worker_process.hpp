// elastic_worker as a process of a test: started, signalled, watched through its record. It is killed with its owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mastic::test {

struct WorkerSettings {
    std::string directory{};  // of the run
    std::int64_t steps = 1'000'000'000;
    int step_ms = 5;
    int snapshot_kb = 1;
    int rate_kb = 0;
    std::string version = "1";
    std::string netns{};  // path of a network namespace to run in
};

struct RecordedStep {
    std::uint64_t hash = 0;
    int generation = 0;
    int members = 0;
};

class WorkerProcess {
  public:
    explicit WorkerProcess(const WorkerSettings& settings);
    ~WorkerProcess();
    WorkerProcess(WorkerProcess&& other) noexcept;
    WorkerProcess& operator=(WorkerProcess&&) = delete;

    void signal(int number);
    // The exit code, or 128 + signal; -1 if it runs on after `bound`.
    int wait_for_end(std::chrono::milliseconds bound);
    bool runs();

    std::string record() const;
    std::string errors() const;  // what it wrote to standard error
    bool recorded(const std::string& word) const { return record().find(word) != std::string::npos; }
    std::map<std::int64_t, RecordedStep> steps() const;  // fails the test if one is there twice
    std::int64_t last_step() const;
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = -1;
    int status_ = -1;
    std::string record_;
};

// True once `condition` holds; false after `bound`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds bound = std::chrono::seconds(20));
// Every step from its first on once, and as all other workers of the run must have it.
void expect_right_steps(const WorkerProcess& worker);

}  // namespace mastic::test
