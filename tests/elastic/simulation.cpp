#include "simulation.hpp"

#include <algorithm>

#include <mastic/core/error.hpp>

namespace mastic::test {

namespace {

std::string id_of(int number) {
    return "m" + std::to_string(number);
}

elastic::Timing timing() {
    return {.heartbeat = Seconds(1), .timeout = Seconds(3), .regroup = Seconds(20)};
}

}  // namespace

std::optional<Generation> MemoryStore::newest() const {
    return all.empty() ? std::nullopt : std::optional(all.rbegin()->second);
}

std::optional<Generation> MemoryStore::read(GenerationId id) const {
    const auto found = all.find(id);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

bool MemoryStore::commit(const Generation& generation) {
    return all.emplace(generation.id, generation).second;
}

SimulatedProcess::SimulatedProcess(Simulation& simulation, int its_number)
    : world(simulation),
      number(its_number),
      record{.id = id_of(its_number), .host = "host" + std::to_string(its_number), .addresses = {}},
      coordinator(
          {.self = record.id, .identity = "v1", .timing = timing(), .plan_addresses = [](Generation&) {}},
          simulation.store, *this),
      member({.self = record, .identity = "v1", .timing = timing()}, simulation.store, *this, coordinator,
             *this) {}

void SimulatedProcess::start() {
    last_progress = world.now;
    if (!world.store.newest()) {
        const Generation first{.id = 1, .reason = "start", .members = {record}};
        world.store.commit(first);
        member.found(first, world.now);
        switch_to(first);
        return;
    }
    member.join(world.now);
}

Link SimulatedProcess::dial(const MemberRecord& to) {
    const Link link = world.next_link_++;
    SimulatedProcess* peer = world.find(to.id);
    const double delay = world.uniform(0.0001, 0.05);
    auto connection = std::make_unique<Simulation::Connection>();
    connection->caller = {number, link};
    if (peer == nullptr || !world.connected(number, peer->number)) {
        world.post(world.now + Seconds(3), {.to = connection->caller, .loss = Loss::silent, .from = -1});
        return link;
    }
    if (!peer->alive || peer->over) {
        world.post(world.now + Seconds(delay), {.to = connection->caller, .loss = Loss::refused, .from = -1});
        return link;
    }
    connection->callee = {peer->number, world.next_link_++};
    connection->last_delivery = world.now + Seconds(delay);
    world.by_end_[{number, link}] = connection.get();
    world.by_end_[{peer->number, connection->callee.link}] = connection.get();
    world.connections_.push_back(std::move(connection));
    return link;
}

void SimulatedProcess::send(Link link, const Message& message) {
    Simulation::Connection* connection = world.connection_of({number, link});
    if (connection == nullptr || !connection->open) {
        return;
    }
    const bool to_callee = connection->caller.process == number && connection->caller.link == link;
    const Simulation::End& to = to_callee ? connection->callee : connection->caller;
    if (!world.connected(number, to.process)) {
        return;
    }
    connection->last_delivery =
        std::max(connection->last_delivery, world.now) + Seconds(world.uniform(0.0001, 0.02));
    world.post(connection->last_delivery,
               {.to = to, .incoming = to_callee, .message = message, .from = number});
}

void SimulatedProcess::close(Link link) {
    Simulation::Connection* connection = world.connection_of({number, link});
    if (connection != nullptr) {
        world.by_end_.erase({number, link});
        world.drop(*connection, Seconds(0));
    }
}

void SimulatedProcess::admitted(const MemberRecord& from) {
    if (doing == Doing::nothing) {
        source = from.id;
        doing = Doing::fetching;
        ready_at = world.now + Seconds(world.uniform(0.2, 4));
    }
}

void SimulatedProcess::refused(const std::string& why) {
    last_words = why;
}

void SimulatedProcess::sent_back(const std::string&) {
    doing = Doing::nothing;
    broken = false;
    applied = {};
    kept.clear();
    generation = {};
}

void SimulatedProcess::abandoned(GenerationId, const std::string&) {
    if (generation.id == 0) {
        doing = Doing::reporting;
        ready_at = world.now;
    }
    broken = true;
}

void SimulatedProcess::regrouped(const Generation& next, const std::vector<std::string>& who) {
    generation = next;
    holders = who;
    broken = false;
    doing = Doing::repairing;
    ready_at = world.now + Seconds(world.uniform(0.001, 0.1));
}

void SimulatedProcess::ended(bool planned, const std::string& why) {
    over = true;
    left = planned;
    last_words = why;
    doing = Doing::nothing;
}

void SimulatedProcess::tick() {
    if (!alive || stopped || over) {
        return;
    }
    member.tick(world.now);
    coordinator.tick(world.now);
    if (!over) {
        train();
    }
}

void SimulatedProcess::train() {
    if (world.now < ready_at) {
        return;
    }
    switch (doing) {
        case Doing::nothing:
            break;
        case Doing::fetching:
        case Doing::following:
            follow();
            break;
        case Doing::computing: {
            auto& meeting = world.meetings[{generation.id, applied.step + 1}];
            if (generation.rank_of(record.id) == 0 && member.pending()) {
                meeting.pending = member.pending()->id;
            }
            meeting.present.insert(record.id);
            doing = Doing::reducing;
            ready_at = world.now + Seconds(world.uniform(0.001, 0.1));
            break;
        }
        case Doing::reducing:
            complete_step();
            break;
        case Doing::reporting:
            report();
            break;
        case Doing::repairing:
            repair();
            break;
    }
}

// A newcomer: takes what its source has.
void SimulatedProcess::follow() {
    SimulatedProcess* from = world.find(source);
    if (from == nullptr || !from->alive || from->over || !world.connected(number, from->number)) {
        ready_at = world.now + Seconds(0.5);
        member.start_over(world.now);
        return;
    }
    if (from->stopped) {
        return;
    }
    ready_at = world.now + Seconds(world.uniform(0.01, 0.3));
    const auto at = from->kept.find(from->applied.step);
    if (doing == Doing::following && at == from->kept.end() && from->applied.step != 0) {
        return;
    }
    // Up to the boundary only: later steps are this process's too.
    if (from->generation.lists(record.id) && from->generation.id > member.generation().id) {
        const Generation next = *world.store.read(from->generation.id);
        const auto boundary = world.meetings.upper_bound({next.id, 0});
        const bool begun = boundary != world.meetings.end() && boundary->first.first == next.id;
        const Step last = begun ? boundary->first.second - 1 : from->applied.step;
        const auto result = from->kept.find(last);
        if (result == from->kept.end()) {
            return;
        }
        applied = result->second;
        kept[applied.step] = applied;
        member.adopt(next.id, world.now);
        if (!broken && !over) {
            switch_to(next);
        }
        return;
    }
    applied = from->applied;
    kept[applied.step] = applied;
    if (doing == Doing::fetching) {
        port = static_cast<std::uint16_t>(world.random.below(60000) + 1);
    }
    doing = Doing::following;
    member.ready(applied.step, port, "", world.now);
}

void SimulatedProcess::switch_to(const Generation& next) {
    generation = next;
    broken = false;
    last_progress = world.now;
    begin_step();
    port = static_cast<std::uint16_t>(world.random.below(60000) + 1);
    member.prepare(port, world.now);
}

void SimulatedProcess::begin_step() {
    doing = Doing::computing;
    ready_at = world.now + Seconds(world.uniform(0.02, 0.3));
}

void SimulatedProcess::complete_step() {
    const auto& meeting = world.meetings[{generation.id, applied.step + 1}];
    const bool all_came = meeting.present.size() == generation.members.size();
    // What was sent before somebody died may or may not still arrive.
    if (broken || !all_came) {
        const bool lost = std::ranges::any_of(generation.members, [&](const MemberRecord& other) {
            const SimulatedProcess* peer = world.find(other.id);
            return !peer->alive || peer->over || !world.connected(number, peer->number);
        });
        const bool finishes = all_came && world.random.below(2) == 0;
        if (!finishes) {
            if (broken || (lost && world.random.below(4) == 0)) {
                doing = Doing::reporting;
                ready_at = world.now;
            }
            return;
        }
    }
    std::uint64_t contributions = 0;
    for (const MemberRecord& other : generation.members) {
        contributions += CounterRandom::mix(static_cast<std::uint64_t>(world.find(other.id)->number) + 17);
    }
    applied.step += 1;
    applied.hash = CounterRandom::mix(applied.hash ^ contributions);
    kept[applied.step] = applied;
    coordinator.at_step(applied.step);
    last_progress = world.now;
    if (meeting.pending != 0) {
        const GenerationId id = meeting.pending;
        member.adopt(id, world.now);
        if (over || broken) {
            doing = over ? Doing::nothing : Doing::reporting;
            return;
        }
        switch_to(*world.store.read(id));
        return;
    }
    begin_step();
}

void SimulatedProcess::report() {
    std::vector<std::string> misses;
    for (const MemberRecord& other : generation.members) {
        const SimulatedProcess* peer = world.find(other.id);
        if (!peer->alive || !world.connected(number, peer->number)) {
            misses.push_back(other.id);
        }
    }
    doing = Doing::nothing;
    port = static_cast<std::uint16_t>(world.random.below(60000) + 1);
    member.report(applied.step, misses, port, world.now);
}

void SimulatedProcess::repair() {
    if (broken) {
        doing = Doing::reporting;
        return;
    }
    if (applied.step < generation.step) {
        for (const std::string& id : holders) {
            const SimulatedProcess* from = world.find(id);
            if (from->alive && !from->stopped && world.connected(number, from->number) &&
                from->kept.contains(generation.step)) {
                applied = from->kept.at(generation.step);
                kept[applied.step] = applied;
            }
        }
        if (applied.step < generation.step) {
            doing = Doing::reporting;
            return;
        }
    }
    switch_to(generation);
}

SimulatedProcess& Simulation::start_process() {
    processes.push_back(std::make_unique<SimulatedProcess>(*this, static_cast<int>(processes.size())));
    processes.back()->start();
    return *processes.back();
}

SimulatedProcess* Simulation::find(const std::string& id) {
    const auto number = static_cast<std::size_t>(std::stoi(id.substr(1)));
    return number < processes.size() ? processes[number].get() : nullptr;
}

bool Simulation::connected(int a, int b) const {
    return !is_cut_ || side_.contains(a) == side_.contains(b);
}

std::vector<SimulatedProcess*> Simulation::working() {
    std::vector<SimulatedProcess*> found;
    for (const auto& process : processes) {
        if (process->alive && !process->stopped && !process->over) {
            found.push_back(process.get());
        }
    }
    return found;
}

void Simulation::post(Seconds at, Event event) {
    events_.emplace(at, std::move(event));
}

Simulation::Connection* Simulation::connection_of(const End& end) {
    const auto found = by_end_.find({end.process, end.link});
    return found == by_end_.end() ? nullptr : found->second;
}

// Its ends hear of it after what was sent before.
void Simulation::drop(Connection& connection, Seconds after) {
    if (!std::exchange(connection.open, false)) {
        return;
    }
    const Seconds at = std::max(connection.last_delivery, now) + after + Seconds(uniform(0.0001, 0.02));
    post(at, {.to = connection.caller, .incoming = false, .from = connection.callee.process});
    post(at, {.to = connection.callee, .incoming = true, .from = connection.caller.process});
}

void Simulation::deliver_due() {
    while (!events_.empty() && events_.begin()->first <= now) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        SimulatedProcess& to = *processes[static_cast<std::size_t>(event.to.process)];
        if (!to.alive || to.over) {
            continue;
        }
        if (to.stopped) {
            post(now + Seconds(0.5), event);  // it waits in the kernel
            continue;
        }
        if (event.from >= 0 && !connected(event.from, event.to.process)) {
            continue;
        }
        if (event.from >= 0 && connection_of(event.to) == nullptr) {
            continue;
        }
        if (event.message) {
            event.incoming ? to.coordinator.hear(event.to.link, *event.message, now)
                           : to.member.hear(event.to.link, *event.message, now);
            if (!event.incoming) {
                continue;
            }
        } else {
            by_end_.erase({event.to.process, event.to.link});
            to.member.lose(event.to.link, event.loss, now);
            to.coordinator.lose(event.to.link, event.loss, now);
        }
    }
}

void Simulation::run_for(Seconds span) {
    const Seconds end = now + span;
    while (now < end) {
        now += Seconds(0.02);
        deliver_due();
        for (std::size_t i = 0; i < processes.size(); ++i) {
            const bool was_over = processes[i]->over;
            processes[i]->tick();
            if (processes[i]->over && !was_over) {
                // The process ends: its links close.
                for (const auto& connection : connections_) {
                    if (connection->caller.process == processes[i]->number ||
                        connection->callee.process == processes[i]->number) {
                        drop(*connection, Seconds(0));
                    }
                }
            }
        }
    }
}

void Simulation::kill(int number) {
    processes[static_cast<std::size_t>(number)]->alive = false;
    for (const auto& connection : connections_) {
        if (connection->caller.process == number || connection->callee.process == number) {
            drop(*connection, Seconds(0));
        }
    }
}

void Simulation::freeze(int number, bool frozen) {
    processes[static_cast<std::size_t>(number)]->stopped = frozen;
}

void Simulation::cut(const std::set<int>& side) {
    side_ = side;
    is_cut_ = true;
}

void Simulation::heal() {
    is_cut_ = false;
}

}  // namespace mastic::test
