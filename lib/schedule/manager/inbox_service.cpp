#include <mastic/schedule/manager/inbox_service.hpp>

#include <mastic/core/error.hpp>

namespace mastic::schedule {
namespace {

constexpr double answers_kept_s = 3600;

Answer refused(const std::string& why) {
    return {true, why};
}

Answer stop(const Request& request, const StateDirectory& state, double now_s) {
    const Training training = state.require(request.training);
    TrainingRecord record = training.record;
    if (record.state == TrainingState::stopped || record.state == TrainingState::stopping) {
        return {false, training.id + " is " + to_string(record.state)};
    }
    if (has_ended(record.state)) {
        return refused(training.id + " is " + to_string(record.state) + " already");
    }
    record.state = record.pilots.empty() ? TrainingState::stopped : TrainingState::stopping;
    record.since_s = now_s;
    record.reason = "stopped by " + request.by;
    record.target = 0;
    record.target_reason = record.reason;
    state.write_record(training.id, record);
    return {false, record.pilots.empty()
                       ? training.id + " is stopped"
                       : std::to_string(record.pilots.size()) + " pilots of " + training.id + " leave"};
}

Answer resize(const Request& request, const StateDirectory& state) {
    const Training training = state.require(request.training);
    TrainingOrder order = training.order;
    if (has_ended(training.record.state)) {
        return refused(training.id + " is " + to_string(training.record.state) + " already");
    }
    order.least = request.least > 0 ? request.least : order.least;
    order.most = request.most > 0 ? request.most : order.most;
    order.weight = request.weight > 0 ? request.weight : order.weight;
    if (order.least > order.most) {
        return refused("its least would be " + std::to_string(order.least) + " nodes and its most " +
                       std::to_string(order.most));
    }
    state.write_order(training.id, order);
    return {false, describe(request)};
}

Answer drain(const Request& request, const StateDirectory& state) {
    DrainedNodes drained = state.drained();
    if (request.nodes.empty()) {
        drained.all = true;
    }
    drained.nodes.insert(request.nodes.begin(), request.nodes.end());
    state.write_drained(drained);
    return {false, describe(request)};
}

Answer undrain(const Request& request, const StateDirectory& state) {
    DrainedNodes drained = state.drained();
    if (request.nodes.empty()) {
        drained = {};
    }
    if (drained.all && !request.nodes.empty()) {
        return refused("all nodes are drained: undrain all first");
    }
    for (const std::string& node : request.nodes) {
        drained.nodes.erase(node);
    }
    state.write_drained(drained);
    return {false, describe(request)};
}

}  // namespace

Answer carry_out(const Request& request, const StateDirectory& state, double now_s) {
    try {
        switch (request.kind) {
            case Request::Kind::stop:
                return stop(request, state, now_s);
            case Request::Kind::resize:
                return resize(request, state);
            case Request::Kind::drain:
                return drain(request, state);
            case Request::Kind::undrain:
                return undrain(request, state);
            case Request::Kind::shutdown:
                return {false, "the manager ends, pilots go on"};
        }
    } catch (const Error& error) {
        if (error.code() == ExitCode::io) {
            throw;  // a full disk is no reason to refuse: it is asked again when there is room
        }
        return refused(error.full_message());
    }
    return refused("this request is not known");
}

bool serve_inbox(const StateDirectory& state, double now_s, EventLog* log) {
    const Inbox inbox = state.inbox();
    bool shutdown = false;
    for (const Inbox::Waiting& waiting : inbox.waiting()) {
        const bool answered = inbox.answer_to(waiting.id).has_value();  // the last manager died just then
        const Answer answer = answered          ? *inbox.answer_to(waiting.id)
                              : waiting.request ? carry_out(*waiting.request, state, now_s)
                                                : refused(waiting.problem);
        inbox.answer(waiting.id, answer);
        shutdown |= waiting.request && waiting.request->kind == Request::Kind::shutdown && !answered;
        if (log != nullptr && !answered) {
            Event event;
            event.time_s = now_s;
            event.kind = EventKind::request;
            event.training = waiting.request ? waiting.request->training : "";
            event.text = (waiting.request ? describe(*waiting.request) : waiting.id) +
                         (answer.refused ? ": refused, " + answer.text : "");
            log->write(event);
        }
    }
    inbox.forget_answers_before(now_s - answers_kept_s);
    return shutdown;
}

}  // namespace mastic::schedule
