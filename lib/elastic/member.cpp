#include <mastic/elastic/member.hpp>

#include <utility>

namespace mastic::elastic {

namespace {

constexpr const char* no_answer = R"({"error":"this member has no coordinator at the moment: ask again"})";

}  // namespace

Member::Member(MemberSettings settings, GenerationStore& store, Network& network, Coordinator& coordinator,
               MemberEvents& events)
    : settings_(std::move(settings)),
      store_(store),
      network_(network),
      coordinator_(coordinator),
      events_(events) {}

void Member::found(const Generation& generation, Seconds now) {
    current_ = generation;
    state_ = State::running;
    has_begun_ = true;
    coordinator_.begin(current_, now);
}

void Member::join(Seconds now) {
    state_ = State::joining;
    state_since_ = now;
    is_ready_ = abandoned_ = false;
    source_.clear();
    pending_.reset();
    lost_.clear();
    dead_.clear();
    next_candidate_ = 0;
    ask_to_join(now);
}

// The members in the order of their ranks, one after the other, until one answers as the coordinator.
void Member::ask_to_join(Seconds now) {
    next_try_.reset();
    const auto newest = store_.newest();
    if (!newest || newest->members.empty()) {
        next_try_ = now + settings_.timing.heartbeat;
        return;
    }
    current_ = *newest;
    if (current_.lists(settings_.self.id)) {
        give_up("lost the coordinator before the switch");
        return;
    }
    if (next_candidate_ >= current_.members.size()) {
        next_candidate_ = 0;
    }
    talk_to(current_.members[next_candidate_++], now);
    send({.kind = MessageKind::join,
          .text = settings_.identity,
          .names = sources(),
          .member = settings_.self});
    if (is_ready_) {
        say_ready();
    }
}

void Member::start_over(Seconds now) {
    if (state_ != State::joining) {
        return;
    }
    if (pending_ && pending_->lists(settings_.self.id) && link_ != 0 &&
        now - state_since_ < settings_.timing.timeout) {
        return;
    }
    hang_up();
    events_.sent_back("the member that it had its state from was lost");
    join(now);
}

std::vector<std::string> Member::sources() const {
    return source_.empty() ? std::vector<std::string>{} : std::vector<std::string>{source_};
}

void Member::ready(Step step, std::uint16_t port, const std::string& offer, Seconds) {
    if (state_ != State::joining) {
        return;
    }
    is_ready_ = true;
    applied_ = step;
    port_ = port;
    offer_ = offer;
    say_ready();
}

void Member::say_ready() {
    send({.kind = MessageKind::ready, .step = applied_, .data_port = port_, .text = offer_, .names = sources()});
}

void Member::adopt(GenerationId id, Seconds now) {
    if (state_ == State::ended || id <= current_.id) {
        return;
    }
    // The message with the table may be behind the agreement.
    const auto known = pending_ && pending_->id == id ? pending_ : store_.read(id);
    // Where others have passed the boundary before, the change after this one may be known already.
    if (pending_ && pending_->id <= id) {
        pending_.reset();
    }
    if (!known) {
        give_up("generation " + std::to_string(id) + " is not in the run directory");
        return;
    }
    const Generation& next = *known;
    if (!next.lists(settings_.self.id)) {
        // The coordinator learns from the hello of another member that the change has taken effect; if this process is the
        // coordinator, its own word counts.
        coordinator_.begin(next, now);
        end(true, next.reason, now);
        return;
    }
    current_ = next;
    state_ = State::running;
    lost_.clear();
    dead_.clear();
    abandoned_ = false;
    has_begun_ = true;
    patience_ends_.reset();
    coordinator_.begin(current_, now);
}

void Member::prepare(std::uint16_t port, Seconds now) {
    if (state_ != State::running) {
        return;
    }
    port_ = port;
    // The old coordinator must hear of the change before it hears that the link is closed.
    if (link_ != 0) {
        say_hello();
    }
    if (link_ == 0 || partner_.id != current_.members.front().id) {
        talk_to(current_.members.front(), now);
        say_hello();
    }
}

// Whoever waits for an answer of the coordinator gets none.
void Member::hang_up() {
    if (link_ != 0) {
        network_.close(std::exchange(link_, 0));
    }
    for (; open_wishes_ > 0; --open_wishes_) {
        events_.wished(no_answer);
    }
}

void Member::talk_to(const MemberRecord& partner, Seconds now) {
    hang_up();
    if (partner.id != partner_.id) {
        second_chance_ = false;
    }
    partner_ = partner;
    last_heard_ = now;
    link_ = network_.dial(partner);
}

void Member::send(Message message) {
    if (link_ != 0) {
        network_.send(link_, message);
    }
}

void Member::say_hello() {
    send({.kind = MessageKind::hello,
          .generation = current_.id,
          .data_port = port_,
          .member = settings_.self});
    if (leaving_) {
        send({.kind = MessageKind::leave});
    }
}

void Member::say_broken() {
    send({.kind = MessageKind::broken,
          .generation = current_.id,
          .step = applied_,
          .data_port = port_,
          .text = has_begun_ ? "" : source_,
          .names = misses_,
          .member = settings_.self});
    if (leaving_) {
        send({.kind = MessageKind::leave});
    }
}

void Member::leave(Seconds) {
    leaving_ = true;
    send({.kind = MessageKind::leave});
}

void Member::wish(const std::string& text) {
    if (link_ == 0) {
        events_.wished(no_answer);
        return;
    }
    ++open_wishes_;
    send({.kind = MessageKind::wish, .text = text});
}

void Member::report(Step applied, const std::vector<std::string>& misses, std::uint16_t port, Seconds now) {
    if (state_ == State::ended) {
        return;
    }
    applied_ = applied;
    misses_ = misses;
    port_ = port;
    state_ = State::regrouping;
    state_since_ = now;
    patience_ends_.reset();
    find_coordinator(now);
}

// While regrouping: the first member that has not been lost, of the newest generation.
void Member::find_coordinator(Seconds now) {
    follow_newest(now);
    if (state_ != State::regrouping) {
        return;
    }
    for (const MemberRecord& member : current_.members) {
        if (lost_.contains(member.id)) {
            continue;
        }
        if (member.id == settings_.self.id && member.id != current_.members.front().id) {
            coordinator_.take_over(current_, lost_, dead_, now);
        }
        if (link_ == 0 || partner_.id != member.id) {
            talk_to(member, now);
        }
        say_broken();
        return;
    }
}

void Member::follow_newest(Seconds now) {
    const auto newest = store_.newest();
    if (!newest || newest->id <= current_.id) {
        return;
    }
    if (!newest->lists(settings_.self.id)) {
        const bool planned = leaving_ || (pending_ && pending_->id == newest->id);
        end(planned,
            "generation " + std::to_string(newest->id) + " goes on without this process (" + newest->reason +
                ")",
            now);
        return;
    }
    current_ = *newest;
    pending_.reset();
    coordinator_.begin(current_, now);
}

void Member::hear(Link link, const Message& message, Seconds now) {
    if (link != link_ || state_ == State::ended) {
        return;
    }
    last_heard_ = now;
    second_chance_ = false;
    switch (message.kind) {
        case MessageKind::admitted:
            if (state_ == State::joining && message.member && message.table) {
                current_ = *message.table;
                if (!source_.empty() && source_ != message.member->id) {
                    is_ready_ = false;
                    pending_.reset();
                    events_.sent_back("the member that it had its state from is none any more");
                }
                source_ = message.member->id;
                events_.admitted(*message.member);
            }
            break;
        case MessageKind::refused:
            has_begun_ = true;  // there is no way back
            events_.refused(message.text);
            end(false, message.text, now);
            break;
        case MessageKind::unneeded:
            has_begun_ = true;
            events_.unneeded(message.text);
            end(true, message.text, now);
            break;
        case MessageKind::busy:
            next_try_ = now + settings_.timing.heartbeat / 4;
            break;
        case MessageKind::table:
            take_table(message, now);
            break;
        case MessageKind::abandon:
            if (state_ == State::regrouping) {
                find_coordinator(now);
            } else if (message.generation >= current_.id) {
                give_up(message.text);
            }
            break;
        case MessageKind::excluded:
            if (message.generation > current_.id) {
                end(leaving_, message.text, now);
            }
            break;
        case MessageKind::wished:
            --open_wishes_;
            events_.wished(message.text);
            break;
        default:
            break;
    }
}

void Member::take_table(const Message& message, Seconds now) {
    if (!message.table || message.table->id <= current_.id) {
        return;
    }
    const Generation& table = *message.table;
    if (state_ != State::regrouping) {
        pending_ = table;
        state_since_ = now;
        events_.committed(table);
        return;
    }
    if (!table.lists(settings_.self.id)) {
        end(leaving_, table.reason, now);
        return;
    }
    if (message.names.empty()) {
        // A planned change, committed before the coordinator heard of the failure.
        find_coordinator(now);
        return;
    }
    current_ = table;
    state_ = State::running;
    pending_.reset();
    lost_.clear();
    dead_.clear();
    abandoned_ = false;
    has_begun_ = true;
    coordinator_.begin(current_, now);
    events_.regrouped(current_, message.names);
}

void Member::lose(Link link, Loss loss, Seconds now) {
    if (link != link_ || state_ == State::ended) {
        return;
    }
    link_ = 0;
    hang_up();
    lose_coordinator(loss, now);
}

void Member::lose_coordinator(Loss loss, Seconds now) {
    if (state_ == State::joining) {
        next_try_ = now + settings_.timing.heartbeat / 4;
        return;
    }
    // This process was stopped for a while, and its two ends missed one another.
    if (partner_.id == settings_.self.id) {
        talk_to(MemberRecord(partner_), now);
        state_ == State::regrouping ? say_broken() : say_hello();
        return;
    }
    // A coordinator that leaves closes its links when it has passed the boundary; this process is about to.
    if (state_ == State::running && pending_ && !abandoned_) {
        patience_ends_ = now + settings_.timing.timeout;
        return;
    }
    if (loss == Loss::closed && !second_chance_) {
        // Dead, or only disconnected? Another call tells.
        talk_to(partner_, now);
        second_chance_ = true;
        state_ == State::regrouping ? say_broken() : say_hello();
        return;
    }
    lost_.insert(partner_.id);
    if (loss == Loss::refused) {
        dead_.insert(partner_.id);
    }
    if (state_ == State::regrouping) {
        find_coordinator(now);
    } else {
        give_up("lost the coordinator (" + partner_.host + ")");
    }
}

// The trainer will report.
void Member::give_up(const std::string& why) {
    if (state_ == State::joining) {
        const auto newest = store_.newest();
        if (!newest || !newest->lists(settings_.self.id)) {
            return;
        }
        current_ = *newest;
        state_ = State::running;
    }
    if (!std::exchange(abandoned_, true)) {
        events_.abandoned(current_.id, why);
    }
}

void Member::tick(Seconds now) {
    if (state_ == State::ended || state_ == State::outside) {
        return;
    }
    const bool beats = now >= next_beat_;
    if (beats) {
        next_beat_ = now + settings_.timing.heartbeat;
        send({.kind = MessageKind::beat});
    }
    if (link_ != 0 && now - last_heard_ > settings_.timing.timeout) {
        hang_up();
        lose_coordinator(Loss::silent, now);
    }
    if (state_ == State::joining) {
        if (next_try_ && now >= *next_try_) {
            ask_to_join(now);
        }
    }
    if (patience_ends_ && now >= *patience_ends_) {
        patience_ends_.reset();
        give_up("lost the coordinator (" + partner_.host + ") before a switch");
    }
    if (state_ == State::regrouping && beats) {
        const GenerationId before = current_.id;
        follow_newest(now);
        if (state_ == State::regrouping && current_.id != before) {
            lost_.clear();
            dead_.clear();
            find_coordinator(now);
        } else if (now - state_since_ > 2 * settings_.timing.regroup) {
            end(false, "no coordinator has answered within " + human(2 * settings_.timing.regroup), now);
        }
    }
}

void Member::end(bool planned, const std::string& why, Seconds now) {
    if (state_ == State::ended) {
        return;
    }
    hang_up();
    if (!planned && !has_begun_) {
        events_.sent_back(why);
        join(now);
        return;
    }
    state_ = State::ended;
    events_.ended(planned, why);
}

}  // namespace mastic::elastic
