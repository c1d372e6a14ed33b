// What has become of a training so far. Only the manager writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::schedule {

enum class TrainingState {
    queued,    // has no nodes yet, or none at the moment
    running,   // has pilots
    stopping,  // somebody stopped it: its pilots are being ended
    done,      // its end is reached
    failed,    // it ended by itself, with a code that no other pilot can cure
    stopped,   // somebody, or its sweep, stopped it
};
const char* to_string(TrainingState state);

inline bool has_ended(TrainingState state) {
    return state >= TrainingState::done;
}

struct PilotRecord {
    std::string job;   // of Slurm
    std::string node;  // that it was asked for, or runs on
    std::string
        state;  // "pending", "starting" (its job runs), "computing" (it is a member of the run), "leaving"
    double since_s = 0;
};

struct TrainingRecord {
    TrainingState state = TrainingState::queued;
    double since_s = 0;         // of the state; seconds since 1970
    std::string reason;         // of the state: "code 8 (non-finite)", "stopped by ana"
    int target = 0;             // nodes that the last decision gave it
    std::string target_reason;  // and why
    std::vector<PilotRecord> pilots;

    std::int64_t samples = 0;          // done
    std::int64_t planned_samples = 0;  // 0: not known yet
    double samples_per_s = 0;          // of the last steady stretch
    int world_size = 0;                // nodes in it
    double node_seconds = 0;           // that its pilots have had
    std::string metric;                // by which its sweep judges it: "loss", "accuracy"
    double score = 0;                  // its value at `scored_samples`
    std::int64_t scored_samples = 0;
    int failures = 0;  // pilots in a row that ended badly before they computed
    double silent_s = 0;             // so long have pilots of it run since the last step that was seen
    std::uintmax_t known_bytes = 0;  // of its metrics.jsonl, that were read
};

std::string to_json(const TrainingRecord& record);
// Throws Error(data) naming `where`.
TrainingRecord parse_training_record(std::string_view json, const std::string& where);

}  // namespace mastic::schedule
