#include <mastic/schedule/manager/training_record.hpp>

#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

template <class Record, class Field>
void record_fields(Record& record, Field&& field) {
    field("since_s", record.since_s);
    field("reason", record.reason);
    field("target", record.target);
    field("target_reason", record.target_reason);
    field("samples", record.samples);
    field("planned_samples", record.planned_samples);
    field("samples_per_s", record.samples_per_s);
    field("world_size", record.world_size);
    field("node_seconds", record.node_seconds);
    field("metric", record.metric);
    field("score", record.score);
    field("scored_samples", record.scored_samples);
    field("failures", record.failures);
    field("silent_s", record.silent_s);
    field("known_bytes", record.known_bytes);
}

template <class Pilot, class Field>
void pilot_fields(Pilot& pilot, Field&& field) {
    field("job", pilot.job);
    field("node", pilot.node);
    field("state", pilot.state);
    field("since_s", pilot.since_s);
}

}  // namespace

const char* to_string(TrainingState state) {
    switch (state) {
        case TrainingState::queued:
            return "queued";
        case TrainingState::running:
            return "running";
        case TrainingState::stopping:
            return "stopping";
        case TrainingState::done:
            return "done";
        case TrainingState::failed:
            return "failed";
        case TrainingState::stopped:
            return "stopped";
    }
    return "unknown";
}

std::string to_json(const TrainingRecord& record) {
    Json content = {{"state", to_string(record.state)}};
    record_fields(record, Store{content});
    Json& pilots = content["pilots"] = Json::array();
    for (const PilotRecord& pilot : record.pilots) {
        pilot_fields(pilot, Store{pilots.emplace_back()});
    }
    return text_of(std::move(content));
}

TrainingRecord parse_training_record(std::string_view json, const std::string& where) {
    TrainingRecord record;
    parse_state(json, where, [&record](const Json& content) {
        load_word(content, "state", record.state, TrainingState::stopped);
        record_fields(record, Load{content});
        for (const Json& pilot : content.value("pilots", Json::array())) {
            pilot_fields(record.pilots.emplace_back(), Load{pilot});
        }
    });
    return record;
}

}  // namespace mastic::schedule
