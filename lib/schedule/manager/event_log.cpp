#include <mastic/schedule/manager/event_log.hpp>

#include <algorithm>

#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

template <class E, class Field>
void event_fields(E& event, Field&& field) {
    field("training", event.training);
    field("node", event.node);
    field("job", event.job);
    field("from", event.from);
    field("to", event.to);
    field("samples", event.samples);
    field("rate", event.rate);
    field("text", event.text);
}

Event parse_event(std::string_view line) {
    const Json json = Json::parse(line);
    Event event;
    load_word(json, "kind", event.kind, EventKind::progress);
    json.at("time_s").get_to(event.time_s);
    event_fields(event, Load{json});
    return event;
}

}  // namespace

const char* to_string(EventKind kind) {
    switch (kind) {
        case EventKind::manager_started:
            return "manager_started";
        case EventKind::manager_stopped:
            return "manager_stopped";
        case EventKind::problem:
            return "problem";
        case EventKind::request:
            return "request";
        case EventKind::training_submitted:
            return "training_submitted";
        case EventKind::training_ended:
            return "training_ended";
        case EventKind::decision:
            return "decision";
        case EventKind::pilot_submitted:
            return "pilot_submitted";
        case EventKind::pilot_started:
            return "pilot_started";
        case EventKind::pilot_joined:
            return "pilot_joined";
        case EventKind::pilot_leaving:
            return "pilot_leaving";
        case EventKind::pilot_ended:
            return "pilot_ended";
        case EventKind::node_idle:
            return "node_idle";
        case EventKind::node_taken:
            return "node_taken";
        case EventKind::progress:
            return "progress";
    }
    return "unknown";
}

std::string to_json_line(const Event& event) {
    Json json = {{"time_s", event.time_s}, {"kind", to_string(event.kind)}};
    const auto said = [&json]<class T>(const char* key, const T& member) {
        if (member != T{}) {
            json[key] = member;
        }
    };
    event_fields(event, said);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EventHistory parse_events(std::string_view text) {
    EventHistory history;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) {
            continue;
        }
        try {
            history.events.push_back(parse_event(line));
        } catch (const std::exception&) {
            ++history.damaged_lines;
        }
    }
    return history;
}

EventHistory read_events(const std::filesystem::path& path) {
    return std::filesystem::exists(path) ? parse_events(read_text_file(path)) : EventHistory{};
}

}  // namespace mastic::schedule
