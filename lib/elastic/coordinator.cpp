#include <mastic/elastic/coordinator.hpp>

#include <algorithm>
#include <charconv>
#include <vector>

#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>

namespace mastic::elastic {

namespace {

std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

}  // namespace

Coordinator::Coordinator(CoordinatorSettings settings, GenerationStore& store, Network& network)
    : settings_(std::move(settings)), store_(store), network_(network) {}

void Coordinator::begin(const Generation& generation, Seconds now) {
    if (generation.id < current_.id || (generation.id == current_.id && active_)) {
        return;
    }
    current_ = generation;
    pending_.reset();
    regrouping_ = false;
    active_ = !generation.members.empty() && generation.members.front().id == settings_.self;
    begun_ = now;
    limit_ = generation.limit;
    gone_.clear();
    dead_.clear();
    std::erase_if(leaving_, [&](const std::string& id) { return !generation.lists(id); });
    for (auto& [link, peer] : peers_) {
        if (generation.lists(peer.id)) {
            peer.newcomer = false;
        }
    }
    lost_leavers_.clear();
    for (const std::string& id : std::exchange(lost_newcomers_, {})) {
        count_out(id, now);
    }
}

void Coordinator::take_over(const Generation& generation, const std::set<std::string>& lost,
                            const std::set<std::string>& dead, Seconds now) {
    if (current_.id != generation.id) {
        begin(generation, now);
    }
    if (!std::exchange(active_, true)) {
        begun_ = now;
    }
    dead_.insert(dead.begin(), dead.end());
    gone_.insert(lost.begin(), lost.end());
    start_regroup("lost the coordinator", now);
    for (const MemberRecord& member : current_.members) {
        const bool probed = std::ranges::any_of(
            probes_, [&](const auto& entry) { return entry.second.member.id == member.id; });
        if (member.id != settings_.self && !dead_.contains(member.id) && !probed &&
            peer_of(member.id) == nullptr) {
            probe(member, 1, now);
        }
    }
}

void Coordinator::probe(const MemberRecord& member, int tries, Seconds now) {
    if (const Link link = network_.dial(member); link != 0) {
        probes_[link] = {member, now, tries};
    }
}

Coordinator::Peer* Coordinator::peer_of(const std::string& id) {
    for (auto& [link, peer] : peers_) {
        if (peer.id == id) {
            return &peer;
        }
    }
    return nullptr;
}

void Coordinator::hear(Link link, const Message& message, Seconds now) {
    Peer& peer = peers_[link];
    peer.last_heard = now;
    switch (message.kind) {
        case MessageKind::join:
            peer.since = now;
            welcome(link, peer, message);
            break;
        case MessageKind::ready:
            peer.ready = message.names == std::vector<std::string>{peer.source};
            peer.applied = message.step;
            peer.data_port = message.data_port;
            peer.offer = message.text;
            break;
        case MessageKind::hello:
            greet(link, peer, message, now);
            if (active_ && regrouping_) {
                // It was not linked when the others were told.
                network_.send(link, {.kind = MessageKind::abandon, .generation = current_.id, .text = loss_});
            }
            break;
        case MessageKind::broken:
            greet(link, peer, message, now);
            take_report(link, peer, message, now);
            break;
        case MessageKind::leave:
            leaving_.insert(peer.id);
            break;
        case MessageKind::wish:
            network_.send(link, {.kind = MessageKind::wished, .text = fulfil(message.text)});
            break;
        default:
            break;
    }
    try_to_regroup(now);
    try_to_change(now);
}

void Coordinator::welcome(Link link, Peer& peer, const Message& message) {
    const auto refuse = [&](const std::string& why) {
        network_.send(link, {.kind = MessageKind::refused, .text = why});
    };
    if (!message.member) {
        return;
    }
    if (message.text != settings_.identity) {
        refuse("this process has " + message.text + ", and the run has " + settings_.identity);
        return;
    }
    if (!active_ || regrouping_) {
        network_.send(link, {.kind = MessageKind::busy});
        return;
    }
    Generation trial = current_;
    trial.members.push_back(*message.member);
    try {
        settings_.plan_addresses(trial);
    } catch (const Error& error) {
        refuse(error.full_message());
        return;
    }
    peer.id = message.member->id;
    peer.record = *message.member;
    peer.newcomer = true;
    peer.ready = false;
    const MemberRecord& source = source_for_newcomer(message.names);
    peer.source = source.id;
    network_.send(link, {.kind = MessageKind::admitted, .member = source, .table = current_});
}

// The one that it has, if it is a member; else the youngest serve newcomers, in turn.
const MemberRecord& Coordinator::source_for_newcomer(const std::vector<std::string>& present) {
    if (!present.empty() && current_.lists(present.front())) {
        return current_.members[static_cast<std::size_t>(current_.rank_of(present.front()))];
    }
    std::vector<const MemberRecord*> sources;
    for (const MemberRecord& member : current_.members) {
        if (!leaving_.contains(member.id) && (!pending_ || pending_->lists(member.id))) {
            sources.push_back(&member);
        }
    }
    if (sources.empty()) {
        return current_.members.front();
    }
    const auto newcomers =
        std::ranges::count_if(peers_, [](const auto& entry) { return entry.second.newcomer; });
    const std::size_t place = static_cast<std::size_t>(newcomers) % sources.size();
    return *sources[(sources.size() - place) % sources.size()];
}

void Coordinator::greet(Link link, Peer& peer, const Message& message, Seconds now) {
    if (!message.member) {
        return;
    }
    peer.id = message.member->id;
    peer.record = *message.member;
    peer.newcomer = false;
    peer.greeted = message.generation;
    peer.data_port = message.data_port;
    // An older link of the same process is over, whatever its end says later.
    std::erase_if(peers_,
                  [&](const auto& entry) { return entry.second.id == peer.id && entry.first != link; });
    if (pending_ && message.generation == pending_->id) {
        begin(Generation(*pending_), now);
    }
    if (active_ && message.generation < current_.id && !current_.lists(peer.id)) {
        network_.send(link, {.kind = MessageKind::excluded,
                             .generation = current_.id,
                             .text = "generation " + std::to_string(current_.id) + " goes on without it (" +
                                     current_.reason + ")"});
    }
}

void Coordinator::take_report(Link link, Peer& peer, const Message& message, Seconds now) {
    peer.reported = message.generation;
    peer.applied = message.step;
    peer.source = message.text;
    peer.misses = message.names;
    if (!active_) {
        return;
    }
    if (message.generation == current_.id) {
        start_regroup("a step failed", now);
    } else if (message.generation < current_.id && current_.lists(peer.id)) {
        network_.send(link, {.kind = MessageKind::abandon,
                             .generation = current_.id,
                             .text = "generation " + std::to_string(current_.id) + " has begun"});
        start_regroup("a member missed the switch", now);
    }
}

void Coordinator::lose(Link link, Loss loss, Seconds now) {
    if (const auto found = probes_.find(link); found != probes_.end()) {
        const Probe probed = found->second;
        probes_.erase(found);
        constexpr int most_tries = 3;
        if (loss == Loss::refused && current_.lists(probed.member.id)) {
            dead_.insert(probed.member.id);
            gone_.insert(probed.member.id);
        } else if (loss == Loss::closed && probed.tries < most_tries) {
            // A process that dies closes its sockets one after the other.
            probe(probed.member, probed.tries + 1, now);
        }
        try_to_regroup(now);
        return;
    }
    const auto found = peers_.find(link);
    if (found == peers_.end()) {
        return;
    }
    const Peer peer = found->second;
    peers_.erase(found);
    if (peer_of(peer.id) == nullptr) {
        if (pending_ && pending_->lists(peer.id) && !current_.lists(peer.id)) {
            lost_newcomers_.insert(peer.id);
        } else if (pending_ && !pending_->lists(peer.id)) {
            // It has passed the boundary, which others are about to reach; if it has not, the broken step will tell.
            lost_leavers_[peer.id] = now;
        } else if (!peer.newcomer) {
            count_out(peer.id, now);
        }
    }
    try_to_regroup(now);
    try_to_change(now);
}

// The loss of a member, if it is one.
void Coordinator::count_out(const std::string& id, Seconds now) {
    const int rank = current_.rank_of(id);
    if (!active_ || rank < 0 || !gone_.insert(id).second) {
        return;
    }
    const MemberRecord& record = current_.members[static_cast<std::size_t>(rank)];
    probe(record, 1, now);
    start_regroup("lost rank " + std::to_string(rank) + " (" + record.host + ")", now);
}

void Coordinator::tick(Seconds now) {
    const Seconds limit = settings_.timing.timeout;
    if (now >= next_beat_) {
        next_beat_ = now + settings_.timing.heartbeat;
        for (const auto& [link, peer] : peers_) {
            network_.send(link, {.kind = MessageKind::beat});
        }
    }
    std::vector<Link> silent;
    for (const auto& [link, peer] : peers_) {
        if (now - peer.last_heard > limit) {
            silent.push_back(link);
        }
    }
    for (const Link link : silent) {
        network_.close(link);
        lose(link, Loss::silent, now);
    }
    std::erase_if(probes_, [&](const auto& entry) {
        const bool over = now - entry.second.since > limit;
        if (over) {
            network_.close(entry.first);
        }
        return over;
    });
    const auto leavers = lost_leavers_;
    for (const auto& [id, since] : leavers) {
        if (now - since > limit) {
            lost_leavers_.erase(id);
            count_out(id, now);
        }
    }
    if (active_ && !regrouping_ && now - begun_ > limit) {
        const Generation current = current_;
        for (const MemberRecord& member : current.members) {
            if (peer_of(member.id) == nullptr && !lost_leavers_.contains(member.id)) {
                count_out(member.id, now);
            }
        }
    }
    try_to_regroup(now);
    try_to_change(now);
}

void Coordinator::tell_members(const Message& message) {
    for (const auto& [link, peer] : peers_) {
        if (!peer.newcomer || (pending_ && pending_->lists(peer.id))) {
            network_.send(link, message);
        }
    }
}

void Coordinator::start_regroup(const std::string& why, Seconds now) {
    if (!std::exchange(regrouping_, true)) {
        loss_ = why;
        regrouping_since_ = now;
        // A change that is committed counts, whether or not it has taken effect anywhere.
        if (pending_) {
            const std::set<std::string> gone = gone_;
            const std::set<std::string> dead = dead_;
            begin(Generation(*pending_), now);
            active_ = regrouping_ = true;
            gone_ = gone;
            dead_ = dead;
        }
        tell_members({.kind = MessageKind::abandon, .generation = current_.id, .text = loss_});
    }
}

void Coordinator::try_to_regroup(Seconds now) {
    if (!active_ || !regrouping_) {
        return;
    }
    std::vector<Peer*> reporters;
    for (const MemberRecord& member : current_.members) {
        Peer* peer = peer_of(member.id);
        if (peer != nullptr && peer->reported == current_.id) {
            reporters.push_back(peer);
            continue;
        }
        const Seconds patience = peer != nullptr ? settings_.timing.regroup : settings_.timing.timeout;
        if (!gone_.contains(member.id) && now - regrouping_since_ <= patience) {
            return;
        }
    }
    if (reporters.empty() || !has_waited_enough(reporters, now)) {
        return;
    }
    const Generation next = survivors_of(reporters);
    if (!store_.commit(next)) {
        stand_down();
        return;
    }
    std::vector<std::string> holders;
    for (const Peer* peer : reporters) {
        if (peer->applied == next.step && next.lists(peer->id)) {
            holders.push_back(peer->id);
        }
    }
    const Generation before = current_;
    begin(next, now);
    for (const auto& [link, peer] : peers_) {
        if (next.lists(peer.id)) {
            network_.send(
                link, {.kind = MessageKind::table, .generation = next.id, .names = holders, .table = next});
        } else if (before.lists(peer.id)) {
            network_.send(link, {.kind = MessageKind::excluded,
                                 .generation = next.id,
                                 .text = "generation " + std::to_string(next.id) + " goes on without it (" +
                                         next.reason + ")"});
        }
    }
}

bool Coordinator::has_waited_enough(const std::vector<Peer*>& reporters, Seconds now) const {
    std::vector<std::string> voters;
    for (const MemberRecord& member : current_.members) {
        if (!dead_.contains(member.id)) {
            voters.push_back(member.id);
        }
    }
    const std::size_t twice = 2 * reporters.size();
    const bool has_first = !voters.empty() && reporters.front()->id == voters.front();
    return twice > voters.size() || (twice == voters.size() && has_first) ||
           now - regrouping_since_ > 3 * settings_.timing.timeout;
}

Generation Coordinator::survivors_of(const std::vector<Peer*>& reporters) {
    Generation next{.id = current_.id + 1, .previous = current_.id, .reason = loss_, .limit = limit_};
    // What a newcomer has counts if the member that it is from goes on, or if there is nothing else.
    const auto is_sure = [&](const Peer* peer) {
        return peer->source.empty() ||
               std::ranges::find(reporters, peer->source, &Peer::id) != reporters.end();
    };
    const bool any_sure = std::ranges::any_of(reporters, is_sure);
    const auto counts = [&](const Peer* peer) {
        return any_sure ? is_sure(peer) : peer->source == reporters.front()->source;
    };
    for (const Peer* peer : reporters) {
        next.step = std::max(next.step, counts(peer) ? peer->applied : 0);
    }
    for (const Peer* peer : reporters) {
        if (counts(peer) && peer->applied + 1 >= next.step) {
            next.members.push_back(peer->record);
            next.members.back().data_port = peer->data_port;
        }
    }
    const bool fruitless = next.members.size() == current_.members.size() && next.step == current_.step;
    fruitless_ = fruitless ? fruitless_ + 1 : 0;
    if (fruitless_ >= 2) {
        drop_a_suspect(next, reporters);
    }
    settings_.plan_addresses(next);
    return next;
}

// Everybody reaches the coordinator, but some do not reach one another: the member that is missed most goes, of several the
// youngest.
void Coordinator::drop_a_suspect(Generation& next, const std::vector<Peer*>& reporters) {
    std::map<std::string, int> missed;
    for (const Peer* peer : reporters) {
        for (const std::string& id : peer->misses) {
            ++missed[id];
        }
    }
    const MemberRecord* suspect = nullptr;
    for (const MemberRecord& member : next.members) {
        if (member.id != settings_.self && missed[member.id] > 0 &&
            (suspect == nullptr || missed[member.id] >= missed[suspect->id])) {
            suspect = &member;
        }
    }
    if (suspect != nullptr) {
        next.reason = suspect->host + " cannot be reached by all";
        std::erase(next.members, MemberRecord(*suspect));
        fruitless_ = 0;
    }
}

// Somebody else has committed the next generation.
void Coordinator::stand_down() {
    active_ = regrouping_ = false;
    const auto newest = store_.newest();
    for (const auto& [link, peer] : peers_) {
        if (!peer.newcomer && newest && !newest->lists(peer.id)) {
            network_.send(link, {.kind = MessageKind::excluded,
                                 .generation = newest->id,
                                 .text = "another part of the run has committed generation " +
                                         std::to_string(newest->id) + " (" + newest->reason + ")"});
        }
    }
}

void Coordinator::try_to_change(Seconds now) {
    if (!active_ || regrouping_ || pending_) {
        return;
    }
    auto next = next_generation();
    if (!next) {
        return;
    }
    next->step = step_;
    settings_.plan_addresses(*next);
    if (!store_.commit(*next)) {
        start_regroup("another part of the run goes on", now);
        stand_down();
        return;
    }
    pending_ = std::move(next);
    tell_members({.kind = MessageKind::table, .generation = pending_->id, .table = *pending_});
}

// Nothing: no change is due, or some member is not prepared for it.
std::optional<Generation> Coordinator::next_generation() {
    Generation next{.id = current_.id + 1, .previous = current_.id, .limit = limit_};
    std::vector<std::string> changes;
    for (const MemberRecord& member : current_.members) {
        if (!leaving_.contains(member.id)) {
            next.members.push_back(member);
        } else {
            changes.push_back(member.host + " leaves");
        }
    }
    const auto room = [&] { return limit_ == 0 || next.members.size() < static_cast<std::size_t>(limit_); };
    while (limit_ > 0 && next.members.size() > static_cast<std::size_t>(limit_)) {
        changes.push_back(next.members.back().host + " leaves");
        next.members.pop_back();
    }
    for (MemberRecord& member : next.members) {
        const Peer* peer = peer_of(member.id);
        if (peer == nullptr || peer->greeted != current_.id) {
            return std::nullopt;
        }
        member.data_port = peer->data_port;
    }
    for (auto& [link, peer] : peers_) {
        const bool could = peer.newcomer && peer.ready && next.lists(peer.source) && room();
        if (could && is_needed(link, peer, next.members.size())) {
            next.members.push_back(peer.record);
            next.members.back().data_port = peer.data_port;
            changes.push_back(peer.record.host + " joins");
        }
    }
    if (changes.empty() && limit_ == current_.limit) {
        return std::nullopt;
    }
    next.reason = changes.empty() ? "new limit" : list(changes);
    return next;
}

// Tells one that is not, which goes then.
bool Coordinator::is_needed(Link link, Peer& newcomer, std::size_t members) {
    const std::string why_not = settings_.why_not ? settings_.why_not(newcomer.offer, members) : "";
    if (!why_not.empty()) {
        newcomer.ready = false;
        network_.send(link, {.kind = MessageKind::unneeded, .text = why_not});
    }
    return why_not.empty();
}

std::string Coordinator::fulfil(const std::string& wish) {
    const auto answer = [](const char* key, const std::string& text) {
        return nlohmann::json{{key, text}}.dump();
    };
    if (!active_) {
        return answer("error", "this run has no coordinator at the moment: ask again");
    }
    const std::size_t blank = wish.find(' ');
    const std::string verb = wish.substr(0, blank);
    const std::string object = blank == std::string::npos ? "" : wish.substr(blank + 1);
    if (verb == "status") {
        return status();
    }
    if (verb == "checkpoint") {
        checkpoint_wished_ = true;
        return answer("done", "a checkpoint is made after the next step");
    }
    if (verb == "resize") {
        int count = 0;
        const auto end = std::from_chars(object.data(), object.data() + object.size(), count);
        if (object.empty() || end.ptr != object.data() + object.size() || count < 1) {
            return answer("error", "resize needs a number of members, 1 or more, not '" + object + "'");
        }
        limit_ = count;
        return answer("done", "at most " + std::to_string(count) + " members");
    }
    if (verb == "drain") {
        std::vector<std::string> who;
        for (const MemberRecord& member : current_.members) {
            if (member.id == object || member.host == object) {
                leaving_.insert(member.id);
                who.push_back(member.host + " (" + member.id + ")");
            }
        }
        if (who.empty()) {
            return answer("error", "no member has the id or host '" + object + "'");
        }
        return answer("done", list(who) + (who.size() == 1 ? " leaves" : " leave") + " at a step boundary");
    }
    return answer("error", "unknown command '" + verb + "': status, resize N, drain MEMBER or checkpoint");
}

std::string Coordinator::status() {
    nlohmann::json members = nlohmann::json::array();
    for (const MemberRecord& member : current_.members) {
        members.push_back({{"id", member.id},
                           {"host", member.host},
                           {"rank", members.size()},
                           {"joined", member.joined},
                           {"leaving", leaving_.contains(member.id)}});
    }
    nlohmann::json newcomers = nlohmann::json::array();
    for (const auto& [link, peer] : peers_) {
        if (peer.newcomer) {
            newcomers.push_back({{"id", peer.id}, {"host", peer.record.host}, {"ready", peer.ready}});
        }
    }
    return nlohmann::json{{"generation", current_.id}, {"step", step_},
                          {"reason", current_.reason}, {"limit", limit_},
                          {"regrouping", regrouping_}, {"pending", pending_ ? pending_->id : 0},
                          {"members", members},        {"newcomers", newcomers}}
        .dump();
}

}  // namespace mastic::elastic
