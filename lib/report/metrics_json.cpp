#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include <mastic/core/error.hpp>
#include <mastic/report/metrics.hpp>

namespace mastic::report {
namespace {

using Json = nlohmann::ordered_json;

// Each record's keys are listed once, for both directions.
template <class Record, class Field>
void each_field(Record& record, Field&& field) {
    using Plain = std::remove_const_t<Record>;
    field("step", record.step);
    if constexpr (!std::is_same_v<Plain, EventRecord>) {
        field("epoch", record.epoch);
        field("samples", record.samples);
    }
    field("time_s", record.time_s);
    if constexpr (std::is_same_v<Plain, StepRecord>) {
        field("loss", record.loss);
        field("learning_rate", record.learning_rate);
        field("samples_per_s", record.samples_per_s);
        field("step_ms", record.step_ms);
        field("forward_ms", record.forward_ms);
        field("backward_ms", record.backward_ms);
        field("exposed_communication_ms", record.exposed_communication_ms);
        field("optimizer_ms", record.optimizer_ms);
        field("checkpoint_stall_ms", record.checkpoint_stall_ms);
        field("global_batch", record.global_batch);
        field("world_size", record.world_size);
    } else if constexpr (std::is_same_v<Plain, EvaluationRecord>) {
        field("split", record.split);
        field("loss", record.loss);
        field("metrics", record.metrics);
    } else {
        field("kind", record.kind);
        field("text", record.text);
        field("numbers", record.numbers);
    }
}

const char* type_name(const StepRecord&) {
    return "step";
}
const char* type_name(const EvaluationRecord&) {
    return "evaluation";
}
const char* type_name(const EventRecord&) {
    return "event";
}

void load(const Json& json, double& value) {
    value = json.is_null() ? not_a_number : json.get<double>();
}
void load(const Json& json, std::int64_t& value) {
    value = json.get<std::int64_t>();
}
void load(const Json& json, std::string& value) {
    value = json.get<std::string>();
}
void load(const Json& json, std::map<std::string, double>& values) {
    for (const auto& [key, item] : json.items()) {
        load(item, values[key]);
    }
}

template <class Record>
MetricsRecord from_json(const Json& json) {
    Record record;
    each_field(record, [&](const char* key, auto& value) {
        if (const auto found = json.find(key); found != json.end()) {
            load(*found, value);
        }
    });
    return record;
}

}  // namespace

std::string to_json_line(const MetricsRecord& record) {
    Json json{{"schema", metrics_schema}};
    std::visit(
        [&](const auto& plain) {
            json["type"] = type_name(plain);
            each_field(plain, [&](const char* key, const auto& value) { json[key] = value; });
        },
        record);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<MetricsRecord> parse_json_line(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
        return std::nullopt;
    }
    try {
        if (const int schema = json.value("schema", 0); schema > metrics_schema) {
            throw Error(ExitCode::data,
                        "metrics of schema " + std::to_string(schema) + ", this program reads " +
                            std::to_string(metrics_schema),
                        "read them with the mastic that wrote them, or a newer one");
        }
        const std::string type = json.value("type", "");
        if (type == "step") {
            return from_json<StepRecord>(json);
        }
        if (type == "evaluation") {
            return from_json<EvaluationRecord>(json);
        }
        if (type == "event") {
            return from_json<EventRecord>(json);
        }
    } catch (const Json::exception&) {
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace mastic::report
