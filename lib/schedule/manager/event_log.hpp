// events.jsonl: what a manager saw and did, one JSON object a line, appended as it happens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/file.hpp>

namespace mastic::schedule {

enum class EventKind {
    manager_started,     // text: who
    manager_stopped,     // text: why
    problem,             // text: Slurm does not answer, a decision failed
    request,             // text: what was asked and answered
    training_submitted,  // training
    training_ended,      // training, samples; text: how
    decision,            // training, from, to (nodes); text: why
    pilot_submitted,     // training, job, node
    pilot_started,       // training, job, node: its job runs
    pilot_joined,        // training, job, node: it is a member of the run
    pilot_leaving,       // training, job, node: told to go
    pilot_ended,         // training, job, node; text: how
    node_idle,           // node: it can be used from now on
    node_taken,          // node: it cannot any more; text: why
    progress,            // training, to (nodes), samples, rate (samples/s)
};
const char* to_string(EventKind kind);

struct Event {
    double time_s = 0;  // seconds since 1970
    EventKind kind = EventKind::problem;
    std::string training = {};
    std::string node = {};
    std::string job = {};
    int from = 0;
    int to = 0;
    std::int64_t samples = 0;
    double rate = 0;
    std::string text = {};
};

// Without the line break; members that say nothing are left out.
std::string to_json_line(const Event& event);

class EventLog {
  public:
    // Errors as LineWriter.
    explicit EventLog(const std::filesystem::path& path) : writer_(path) {}
    void write(const Event& event) { writer_.write_line(to_json_line(event)); }

  private:
    LineWriter writer_;
};

struct EventHistory {
    std::vector<Event> events;
    std::size_t damaged_lines = 0;  // torn, or of a kind that this version does not know
};

EventHistory parse_events(std::string_view text);
// Empty if there is no such file. Throws Error(io).
EventHistory read_events(const std::filesystem::path& path);

}  // namespace mastic::schedule
