#include <mastic/schedule/manager/round_record.hpp>

#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

template <class Record, class Field>
void record_fields(Record& record, Field&& field) {
    field("time_s", record.time_s);
    field("next_s", record.next_s);
    field("nodes", record.nodes);
    field("idle", record.idle);
    field("spare", record.spare);
    field("waits_for", record.waits_for);
    field("problem", record.problem);
    field("node_seconds", record.used.node_seconds);
    field("node_seconds_today", record.used.node_seconds_today);
    field("today_s", record.used.today_s);
}

}  // namespace

std::string to_json(const RoundRecord& record) {
    Json content;
    record_fields(record, Store{content});
    return text_of(std::move(content));
}

RoundRecord parse_round_record(std::string_view json, const std::string& where) {
    RoundRecord record;
    parse_state(json, where, [&record](const Json& content) { record_fields(record, Load{content}); },
                "move it away: node-hours of the budget then count from nothing");
    return record;
}

}  // namespace mastic::schedule
