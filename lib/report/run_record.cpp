#include <mastic/report/run_record.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include <mastic/core/file.hpp>

namespace mastic::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int requeue_code = static_cast<int>(ExitCode::requeue);
constexpr int lost_code = static_cast<int>(ExitCode::collective);
constexpr const char* time_format = "%Y-%m-%dT%H:%M:%SZ";

void load(const Json& json, Time& time) {
    if (const auto parsed = parse_time(json.get<std::string>())) {
        time = *parsed;
    }
}
void load(const Json& json, double& value) {
    value = json.is_null() ? std::nan("") : json.get<double>();
}
template <class Value>
void load(const Json& json, Value& value) {
    value = json.get<Value>();
}
template <class Value>
void load(const Json& json, std::map<std::string, Value>& values) {
    for (const auto& [key, item] : json.items()) {
        load(item, values[key]);
    }
}
template <class Value>
void load(const Json& json, std::optional<Value>& value) {
    if (!json.is_null()) {
        load(json, value.emplace());
    }
}

Json stored(const Time& time) {
    return to_string(time);
}
template <class Value>
Json stored(const Value& value) {
    return value;
}
template <class Value>
Json stored(const std::optional<Value>& value) {
    return value ? stored(*value) : Json();
}

// Each key is listed once, for both directions.
template <class Attempt, class Field>
void attempt_fields(Attempt& attempt, Field&& field) {
    field("started", attempt.started);
    field("ended", attempt.ended);
    field("exit_code", attempt.exit_code);
    field("exit_name", attempt.exit_name);
    field("reason", attempt.reason);
    field("job_id", attempt.job_id);
    field("first_step", attempt.first_step);
    field("last_step", attempt.last_step);
    field("world_size", attempt.world_size);
}

template <class Best, class Field>
void best_fields(Best& best, Field&& field) {
    field("name", best.name);
    field("value", best.value);
    field("step", best.step);
}

template <class Record, class Field>
void run_fields(Record& record, Field&& field) {
    field("program", record.program);
    field("version", record.version);
    field("command_line", record.command_line);
    field("hosts", record.hosts);
    attempt_fields(record.attempt, field);
    field("samples", record.samples);
    field("planned_samples", record.planned_samples);
    field("final_metrics", record.final_metrics);
    field("checkpoints", record.checkpoints);
    field("libraries", record.libraries);
}

auto saver(Json& json) {
    return [&json](const char* key, const auto& value) { json[key] = stored(value); };
}

auto loader(const Json& json) {
    return [&json](const char* key, auto& value) {
        if (const auto found = json.find(key); found != json.end()) {
            load(*found, value);
        }
    };
}

RunRecord from_json(const Json& json) {
    RunRecord record;
    run_fields(record, loader(json));
    if (json.contains("best_metric") && !json["best_metric"].is_null()) {
        best_fields(record.best.emplace(), loader(json["best_metric"]));
    }
    for (const Json& earlier : json.value("restarts", Json::array())) {
        attempt_fields(record.restarts.emplace_back(), loader(earlier));
    }
    return record;
}

}  // namespace

Time now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

std::string to_string(Time time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), time_format, &parts)};
}

std::optional<Time> parse_time(std::string_view text) {
    const std::string copy(text);
    std::tm parts{};
    const char* end = strptime(copy.c_str(), time_format, &parts);
    if (end == nullptr || *end != '\0') {
        return std::nullopt;
    }
    return std::chrono::time_point_cast<std::chrono::seconds>(
        std::chrono::system_clock::from_time_t(timegm(&parts)));
}

int fruitless_attempts(const RunRecord& record, std::int64_t checkpoint_step) {
    const std::int64_t start = record.attempt.first_step;
    if (checkpoint_step > start) {
        return 0;
    }
    // A start after another failure is one that somebody wanted.
    const auto as_fruitless = [start](const RunAttempt& attempt) {
        const int code = attempt.exit_code.value_or(requeue_code);
        return attempt.first_step >= start && (code == requeue_code || code == lost_code);
    };
    const auto end = std::find_if_not(record.restarts.rbegin(), record.restarts.rend(), as_fruitless);
    return 1 + static_cast<int>(end - record.restarts.rbegin());
}

void finish(RunRecord& record, ExitCode code, std::string reason, Time ended) {
    record.attempt.ended = ended;
    record.attempt.exit_code = static_cast<int>(code);
    record.attempt.exit_name = mastic::to_string(code);
    record.attempt.reason = std::move(reason);
}

void continue_from(RunRecord& record, const RunRecord& previous) {
    record.restarts = previous.restarts;
    record.restarts.push_back(previous.attempt);
}

void write_run_record(const std::filesystem::path& path, const RunRecord& record) {
    Json json{{"schema", run_record_schema}};
    run_fields(record, saver(json));
    if (record.best) {
        best_fields(*record.best, saver(json["best_metric"]));
    }
    json["restarts"] = Json::array();
    for (const RunAttempt& earlier : record.restarts) {
        attempt_fields(earlier, saver(json["restarts"].emplace_back()));
    }
    write_file_atomically(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RunRecord read_run_record(const std::filesystem::path& path) {
    const Json json = Json::parse(read_text_file(path), nullptr, false);
    const std::string hint = "remove it if it is damaged: checkpoints and metrics do not depend on it";
    if (!json.is_object()) {
        throw Error(ExitCode::data, path.string() + " is not a JSON object", hint);
    }
    try {
        if (const int schema = json.value("schema", 0); schema > run_record_schema) {
            throw Error(ExitCode::data,
                        path.string() + " has schema " + std::to_string(schema) + ", this program reads " +
                            std::to_string(run_record_schema),
                        "read it with the mastic that wrote it, or a newer one");
        }
        return from_json(json);
    } catch (const Json::exception& error) {
        throw Error(ExitCode::data, path.string() + " is damaged: " + error.what(), hint);
    }
}

}  // namespace mastic::report
