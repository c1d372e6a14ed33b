#include <mastic/elastic/membership.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include <mastic/comm/collective/tcp_group.hpp>
#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/bulk_client.hpp>
#include <mastic/elastic/bulk_server.hpp>
#include <mastic/elastic/control_plane.hpp>
#include <mastic/elastic/generation_store.hpp>
#include <mastic/elastic/pursuit.hpp>
#include <mastic/elastic/secret.hpp>
#include <mastic/elastic/step_log.hpp>

namespace mastic::elastic {

namespace {

std::int64_t unix_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

MemberRecord describe_self(std::uint16_t service_port) {
    const comm::HostAddresses host = comm::find_host_addresses();
    return {.id = random_id(),
            .host = host.name,
            .addresses = comm::pack(host),
            .service_port = service_port,
            .joined = unix_seconds()};
}

// To members that listen already. Two that cannot reach one another hold up all others for so long, twice.
Seconds longest_connect(const Timing& timing) {
    constexpr Seconds for_lost_packets{2};
    return std::max(2 * timing.timeout, for_lost_packets);
}

Seconds monotonic() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

struct Membership::Impl {
    Impl(MembershipOptions the_options, ReplicatedState& the_state)
        : options(std::move(the_options)),
          state(the_state),
          store(options.directory),
          secret(create_or_read_secret(options.directory)),
          log([this] { state.expect_snapshot(); }, options.most_kept),
          bulk(log, options.rate) {
        comm::ListeningSocket service = comm::ListeningSocket::on_every_address();
        self = describe_self(service.address().port());
        plane = std::make_unique<ControlPlane>(
            PlaneSettings{.self = self,
                          .identity = "version " + options.version + ", configuration " + options.fingerprint,
                          .network = options.network,
                          .timing = options.timing,
                          .secret = secret,
                          .control_socket = options.control_socket
                                                ? options.directory / ("control-" + self.host + "-" + self.id)
                                                : std::filesystem::path(),
                          .why_not = options.why_not},
            std::move(service), store, bulk);
        plane->on_abandon([this](GenerationId id, const std::string& why) { abandon(id, why); });
        const Seconds begin = monotonic();
        if (!try_to_found()) {
            join();
            note("joined", monotonic() - begin, "");
        }
        store.declare_alive();
    }

    // True: this process is the only member. Who has left last may still be saving, so nobody may be alive then either.
    bool try_to_found() {
        if (!store.take_turn_to_found()) {
            return false;
        }
        const bool founded = store.nobody_is_alive() && found();
        if (founded) {
            store.declare_alive();
        }
        store.end_turn_to_found();
        return founded;
    }

    bool found() {
        const auto newest = store.newest();
        const bool ended = !newest || newest->members.empty();
        spare.emplace(comm::ListeningSocket::on_every_address());
        Generation first{.id = newest ? newest->id + 1 : 1,
                         .previous = newest ? newest->id : 0,
                         .reason = ended ? "start" : "start again after all members had gone",
                         .members = {self}};
        first.members.front().data_port = spare->address().port();
        plan_addresses(options.network)(first);
        if (!store.commit(first)) {
            return false;
        }
        is_founder = true;
        generation = first;
        log.forget_all();  // of a run that it was about to join
        plane->call([&](Member& member, Coordinator&, Seconds now) { member.found(first, now); });
        return true;
    }

    // --- A newcomer -----------------------------------------------------------------------------------------------------

    void join() {
        plane->call([](Member& member, Coordinator&, Seconds now) { member.join(now); });
        while (!is_founder && !catch_up()) {
            leave_if_told();
        }
    }

    bool must_end() const { return options.must_end && options.must_end(); }
    void leave_if_told() const {
        if (must_end()) {
            throw Left();
        }
    }

    // False: nobody has answered. Where all members have died meanwhile, this process may found the run anew.
    bool wait_for_admission() {
        const auto decided = [](const PlaneState& now) {
            return now.source || now.refused || now.ended || now.abandoned != 0;
        };
        constexpr Seconds attention{0.2};
        const Seconds begin = monotonic();
        for (Seconds look = begin + options.timing.heartbeat; monotonic() - begin < options.join;) {
            if (plane->wait_for(decided, std::min(attention, options.timing.timeout))) {
                return true;
            }
            leave_if_told();
            if (monotonic() < look) {
                continue;
            }
            if (try_to_found()) {
                return false;
            }
            look = monotonic() + options.timing.heartbeat;
        }
        return false;
    }

    // False: it must begin anew.
    bool catch_up() {
        const bool came = wait_for_admission();
        if (is_founder) {
            return true;
        }
        const PlaneState now = plane->state();
        if (now.refused) {
            throw Refused(now.why);
        }
        throw_if_unneeded(now);
        if (!came || now.ended) {
            throw Error(ExitCode::environment,
                        "no member of the run answered within " + human(options.join) +
                            (now.why.empty() ? "" : " (" + now.why + ")"),
                        "are its hosts reachable from here? See the newest file in " +
                            (options.directory / "generations").string());
        }
        if (now.abandoned != 0) {
            return join_by_regroup();
        }
        const auto is_over = [this, starts = now.starts] {
            const PlaneState later = plane->state();
            return later.starts != starts || later.abandoned != 0 || later.ended || must_end();
        };
        try {
            BulkClient source(plane->address_of(*now.source), secret, is_over);
            const bool joined = fetch_state(source, is_over) && follow(*now.source, is_over);
            throw_if_unneeded(plane->state());
            return joined;
        } catch (const Error& error) {
            throw_if_unneeded(plane->state());
            if (error.code() != ExitCode::collective) {
                throw;
            }
            spdlog::info("member {} on {}: {}", now.source->id, now.source->host, error.what());
        }
        // Whether the survivors take this one along, or it begins anew, is decided in bounded time.
        for (const Seconds begin = monotonic(); !is_over() && monotonic() - begin < options.join;) {
            plane->call([](Member& member, Coordinator&, Seconds time) { member.start_over(time); });
            plane->wait_for(
                [&](const PlaneState& later) { return later.starts != now.starts || later.abandoned != 0; },
                options.timing.heartbeat / 4);
        }
        return false;
    }

    static void throw_if_unneeded(const PlaneState& now) {
        if (now.unneeded) {
            throw Unneeded(now.why);
        }
    }

    bool fetch_state(BulkClient& source, const TimedSocket::Interrupted& is_over) {
        BulkRequest request{.what = BulkRequest::What::snapshot, .member = self.id};
        Fetched fetched;
        do {
            fetched = source.fetch(request);
            if (is_over()) {
                return false;
            }
        } while (fetched.status == BulkAnswer::Status::later);
        if (fetched.status != BulkAnswer::Status::data) {
            throw Error(ExitCode::collective, "its state is not kept any more");
        }
        state.load(fetched.step, fetched.bytes);
        applied = fetched.step;
        log.keep(applied, Blob());  // nobody can ask for it: only for what comes after
        spare.emplace(comm::ListeningSocket::on_every_address());
        return true;
    }

    // Ready when at most one step is missing.
    bool follow(const MemberRecord& source, const TimedSocket::Interrupted& is_over) {
        has_entered = false;
        auto pursuit = std::make_unique<Pursuit>(PursuitSource{plane->address_of(source), secret, self.id}, applied + 1,
                                                 [this, is_over] { return !has_entered && is_over(); });
        constexpr Seconds attention{0.05};
        for (bool ready = false;;) {
            if (auto step = pursuit->next_step(attention)) {
                take(*step);
            }
            if (is_over()) {
                return false;
            }
            const auto newest = pursuit->newest();
            if (!ready && newest && *newest - applied <= 1) {
                ready = true;
                plane->call([&](Member& member, Coordinator&, Seconds time) {
                    member.ready(applied, spare->address().port(), options.offer ? options.offer() : "", time);
                });
            }
            if (const GenerationId committed = plane->state().pending) {
                pursuit->listen_for(committed);
            }
            if (const auto boundary = pursuit->boundary()) {
                return enter(std::move(pursuit), source, *boundary, is_over);
            }
        }
    }

    // A member of the generation that begins there, with or without the last steps before. False: that has broken already.
    bool enter(std::unique_ptr<Pursuit> pursuit, const MemberRecord& source, const Pursuit::Boundary& boundary,
               const TimedSocket::Interrupted& is_over) {
        store.declare_alive();
        const auto table = store.read(boundary.generation);
        late_until = boundary.after;
        late_steps = std::move(pursuit);
        if (!options.enter_behind || !table || !table->lists(source.id)) {
            take_late_steps();
        }
        bool takes_part = false;
        if (!is_over()) {
            has_entered = true;
            const bool changed = adopt(boundary.generation, boundary.after) == Boundary::changed;
            plane->call([&](Member& member, Coordinator&, Seconds) { takes_part = changed && member.has_begun(); });
        }
        if (!takes_part) {
            late_steps.reset();
        }
        return takes_part;
    }

    // False: not all within `bound`. Throws Error(collective).
    bool take_late_steps(std::optional<Seconds> bound = std::nullopt) {
        constexpr Seconds attention{0.5};
        const Seconds begin = monotonic();
        if (late_steps) {
            late_steps->fetch_the_last();
        }
        while (late_steps && applied < late_until) {
            if (auto step = late_steps->next_step(attention)) {
                take(*step);
            } else if (bound && monotonic() - begin > *bound) {
                return false;
            }
        }
        late_steps.reset();
        return true;
    }

    // One that is further behind than a step is not taken along; its source may be there still.
    void take_late_steps_before_a_regroup() {
        try {
            take_late_steps(options.timing.timeout);
        } catch (const Error& error) {
            spdlog::debug("the last steps: {}", error.what());
        }
        late_steps.reset();
    }

    void take(Fetched& fetched) {
        state.apply(fetched.step, fetched.bytes);
        applied = fetched.step;
        log.keep(applied, Blob::of(std::move(fetched.bytes)));
    }

    bool join_by_regroup() {
        store.declare_alive();
        return try_to_regroup(applied);
    }

    // Where nobody does, the first of those that were there last is to save.
    void note_who_goes_on() {
        try {
            Generation newest = generation;
            while (const auto next = store.read(newest.id + 1)) {  // a list of the directory may be an old one
                newest = *next;
            }
            const auto before = newest.members.empty() ? store.read(newest.previous) : std::nullopt;
            is_last = before && before->rank_of(self.id) == 0;
            generation = newest;
        } catch (const std::exception& error) {
            spdlog::debug("who goes on is not known: {}", error.what());
        }
    }

    // --- A member -------------------------------------------------------------------------------------------------------

    // `next` begins after `step`.
    Boundary adopt(GenerationId next, Step step) {
        plane->call([&](Member& member, Coordinator&, Seconds now) {
            member.adopt(next, now);
            generation = member.generation();
        });
        const PlaneState now = plane->state();
        if (now.ended) {
            note("left", Seconds(0), now.why);
            note_who_goes_on();
            return Boundary::left;
        }
        log.mark(generation, step);
        return Boundary::changed;
    }

    void keep(Step step, Blob reduced, std::int64_t agreed) {
        const auto next = static_cast<GenerationId>(agreed);
        if (const auto table = next > generation.id ? store.read(next) : std::nullopt) {
            log.mark(*table, step);
        }
        log.keep(step, std::move(reduced));
    }

    Boundary at_boundary(Step step, std::int64_t agreed) {
        const Seconds begin = monotonic();
        applied = step;
        plane->at_step(step);
        if (log.snapshot_wanted()) {
            log.offer_snapshot(step, state.snapshot());
            note("snapshot", monotonic() - begin, "");
        }
        const auto next = static_cast<GenerationId>(agreed);
        if (next <= generation.id) {
            return Boundary::stays;
        }
        const Boundary boundary = adopt(next, step);
        if (boundary == Boundary::changed) {
            note("switched", monotonic() - begin, generation.reason);
        }
        return boundary;
    }

    void regroup(Step last_applied) {
        const Seconds begin = monotonic();
        take_late_steps_before_a_regroup();
        applied = std::max(applied, last_applied);
        note("lost", Seconds(0), plane->state().abandoned_why);
        for (int attempt = 0; !try_to_regroup(applied); ++attempt) {
            constexpr int most_attempts = 32;
            if (attempt == most_attempts) {
                throw Error(ExitCode::collective, "the members could not regroup");
            }
        }
        note("regrouped", monotonic() - begin, generation.reason);
    }

    // False: the new generation broke too, or a newcomer has to begin anew.
    bool try_to_regroup(Step last_applied) {
        const std::vector<std::string> misses = missed_members();
        {
            const std::lock_guard lock(group_mutex);
            group.reset();
        }
        const std::uint64_t starts = plane->state().starts;
        spare.emplace(comm::ListeningSocket::on_every_address());
        plane->expect_regroup();
        plane->call([&](Member& member, Coordinator&, Seconds now) {
            member.report(last_applied, misses, spare->address().port(), now);
        });
        const Seconds bound = 3 * options.timing.regroup;
        const bool came = plane->wait_for(
            [&](const PlaneState& now) { return now.regrouped || now.ended || now.starts != starts; }, bound);
        const PlaneState now = plane->state();
        if (now.ended && now.planned_end) {
            note_who_goes_on();
            throw Left();
        }
        if (now.ended || !came) {
            // A newcomer that the others could not wait for has done nothing yet.
            throw Error(applied < late_until ? ExitCode::requeue : ExitCode::collective,
                        "the run goes on without this process: " + now.why, "start it again: it joins as a newcomer");
        }
        if (!now.regrouped) {
            return false;
        }
        generation = *now.regrouped;
        return applied >= generation.step || fetch_last_step(now.holders);
    }

    bool fetch_last_step(const std::vector<std::string>& holders) {
        for (const std::string& id : holders) {
            const int holder = generation.rank_of(id);
            if (holder < 0) {
                continue;
            }
            try {
                BulkClient source(plane->address_of(generation.members[static_cast<std::size_t>(holder)]),
                                  secret, [this] { return plane->state().abandoned == generation.id; });
                Fetched fetched = source.fetch(
                    {.what = BulkRequest::What::step, .member = self.id, .step = generation.step, .known = generation.id});
                if (fetched.status == BulkAnswer::Status::data) {
                    take(fetched);
                    return true;
                }
            } catch (const Error& error) {
                spdlog::info("step {} from member {}: {}", generation.step, id, error.what());
            }
        }
        return false;
    }

    std::vector<std::string> missed_members() {
        std::vector<std::string> ids;
        const std::lock_guard lock(group_mutex);
        for (const int rank : losses ? losses->ranks() : std::vector<int>{}) {
            if (rank < static_cast<int>(generation.members.size())) {
                ids.push_back(generation.members[static_cast<std::size_t>(rank)].id);
            }
        }
        return ids;
    }

    // --- The group ------------------------------------------------------------------------------------------------------

    std::shared_ptr<comm::Group> make_group() {
        comm::TcpTable table{.rank = generation.rank_of(self.id),
                             .token = derive_token(secret, "data " + std::to_string(generation.id)),
                             .description = generation.network};
        for (const MemberRecord& member : generation.members) {
            table.peers.push_back(
                {.rank = static_cast<int>(table.peers.size()),
                 .host = member.host,
                 .address = comm::SocketAddress::parse(member.address, member.data_port).value()});
        }
        auto fresh_losses = std::make_shared<comm::LossRecord>();
        const std::shared_ptr<comm::TcpGroup> fresh = comm::TcpGroup::open(
            std::move(table), std::move(*spare), options.group,
            {.connect_timeout = longest_connect(options.timing), .silence = options.timing.timeout, .linger = Seconds(0),
             .losses = fresh_losses});
        {
            const std::lock_guard lock(group_mutex);
            group = fresh;
            group_of = generation.id;
            losses = std::move(fresh_losses);
        }
        const PlaneState now = plane->state();
        if (now.abandoned == generation.id || now.ended) {
            fresh->abandon(now.ended ? now.why : now.abandoned_why);
        }
        spare.emplace(comm::ListeningSocket::on_every_address());
        plane->call([&](Member& member, Coordinator&, Seconds time) {
            member.prepare(spare->address().port(), time);
        });
        return fresh;
    }

    // On the plane's thread.
    void abandon(GenerationId id, const std::string& why) {
        std::shared_ptr<comm::TcpGroup> present;
        {
            const std::lock_guard lock(group_mutex);
            if (group_of <= id) {
                present = group.lock();
            }
        }
        if (present) {
            present->abandon(why);
        }
    }

    void note(const std::string& kind, Seconds took, const std::string& text) {
        const std::lock_guard lock(events_mutex);
        events.push_back(
            {.unix_time = static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(
                                                  std::chrono::system_clock::now().time_since_epoch())
                                                  .count()) /
                          1e6,
             .kind = kind,
             .generation = generation.id,
             .members = static_cast<int>(generation.members.size()),
             .took = took,
             .text = text});
    }

    const MembershipOptions options;
    ReplicatedState& state;
    DirectoryStore store;
    const Secret secret;
    StepLog log;
    BulkServer bulk;
    MemberRecord self;
    bool is_founder = false;
    Generation generation;
    bool is_last = false;
    Step applied = 0;
    std::atomic<bool> has_entered{false};  // a newcomer that is a member now
    Step late_until = 0;
    std::optional<comm::ListeningSocket> spare;  // for the next generation's group
    std::mutex group_mutex;
    std::weak_ptr<comm::TcpGroup> group;
    GenerationId group_of = 0;
    std::shared_ptr<comm::LossRecord> losses;
    std::mutex events_mutex;
    std::vector<Event> events;
    std::unique_ptr<ControlPlane> plane;  // its thread uses what is above
    std::unique_ptr<Pursuit> late_steps;  // those up to late_until that are on their way; its threads use the plane
};

Membership::Membership(MembershipOptions options, ReplicatedState& state)
    : impl_(std::make_unique<Impl>(std::move(options), state)) {}

Membership::~Membership() = default;

bool Membership::founded() const {
    return impl_->is_founder;
}
Step Membership::last_step() const {
    return impl_->applied;
}
const std::string& Membership::id() const {
    return impl_->self.id;
}
const Generation& Membership::generation() const {
    return impl_->generation;
}
bool Membership::is_last() const { return impl_->is_last; }
int Membership::rank() const {
    return impl_->generation.rank_of(impl_->self.id);
}

std::shared_ptr<comm::Group> Membership::make_group() {
    return impl_->make_group();
}

std::int64_t Membership::pending() const {
    return rank() == 0 ? static_cast<std::int64_t>(impl_->plane->state().pending) : 0;
}

bool Membership::is_behind() const {
    return impl_->late_steps != nullptr && impl_->applied < impl_->late_until;
}

void Membership::catch_up() {
    if (is_behind()) {
        // What the group has exchanged just now may still be on its way to others: a step that fills the link would come before it.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    impl_->take_late_steps();
}

void Membership::keep(Step step, Blob reduced, std::int64_t agreed_pending) {
    impl_->keep(step, std::move(reduced), agreed_pending);
}

Boundary Membership::at_boundary(Step step, std::int64_t agreed_pending) {
    return impl_->at_boundary(step, agreed_pending);
}

void Membership::regroup(Step applied) {
    impl_->regroup(applied);
}

void Membership::leave() {
    impl_->plane->call([](Member& member, Coordinator&, Seconds now) { member.leave(now); });
}

bool Membership::take_checkpoint_wish() {
    return impl_->plane->take_checkpoint_wish();
}

std::vector<Membership::Event> Membership::take_events() {
    const std::lock_guard lock(impl_->events_mutex);
    return std::exchange(impl_->events, {});
}

}  // namespace mastic::elastic
