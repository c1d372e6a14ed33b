#include <mastic/schedule/manager/request.hpp>

#include <mastic/job/host_list.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

template <class R, class Field>
void request_fields(R& request, Field&& field) {
    field("training", request.training);
    field("nodes", request.nodes);
    field("min_nodes", request.least);
    field("max_nodes", request.most);
    field("weight", request.weight);
    field("by", request.by);
    field("time_s", request.time_s);
}

template <class A, class Field>
void answer_fields(A& answer, Field&& field) {
    field("refused", answer.refused);
    field("text", answer.text);
}

std::string new_limits(const Request& request) {
    const auto limit = [](int nodes) { return nodes > 0 ? std::to_string(nodes) : std::string("?"); };
    std::string text;
    if (request.least > 0 || request.most > 0) {
        text = " to " + limit(request.least) + ".." + limit(request.most) + " nodes";
    }
    return text + (request.weight > 0
                       ? (text.empty() ? " to weight " : ", weight ") + report::significant(request.weight)
                       : "");
}

}  // namespace

const char* to_string(Request::Kind kind) {
    switch (kind) {
        case Request::Kind::stop:
            return "stop";
        case Request::Kind::resize:
            return "resize";
        case Request::Kind::drain:
            return "drain";
        case Request::Kind::undrain:
            return "undrain";
        case Request::Kind::shutdown:
            return "shutdown";
    }
    return "unknown";
}

std::string describe(const Request& request) {
    const std::string verb = to_string(request.kind);
    switch (request.kind) {
        case Request::Kind::stop:
            return verb + " " + request.training;
        case Request::Kind::resize:
            return verb + " " + request.training + new_limits(request);
        case Request::Kind::drain:
        case Request::Kind::undrain:
            return verb + " " +
                   (request.nodes.empty() ? "all nodes" : job::compress_host_list(request.nodes));
        case Request::Kind::shutdown:
            break;
    }
    return verb;
}

std::string to_json(const Request& request) {
    Json content = {{"request", to_string(request.kind)}};
    request_fields(request, Store{content});
    return text_of(std::move(content));
}

Request parse_request(std::string_view json, const std::string& where) {
    Request request;
    parse_state(json, where, [&request](const Json& content) {
        load_word(content, "request", request.kind, Request::Kind::shutdown);
        request_fields(request, Load{content});
    });
    return request;
}

std::string to_json(const Answer& answer) {
    Json content;
    answer_fields(answer, Store{content});
    return text_of(std::move(content));
}

Answer parse_answer(std::string_view json, const std::string& where) {
    Answer answer;
    parse_state(json, where, [&answer](const Json& content) { answer_fields(answer, Load{content}); });
    return answer;
}

}  // namespace mastic::schedule
