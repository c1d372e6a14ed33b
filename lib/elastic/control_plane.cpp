#include <mastic/elastic/control_plane.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/comm/tcp/network_choice.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/bulk_protocol.hpp>
#include <mastic/elastic/control_socket.hpp>

namespace mastic::elastic {

namespace {

constexpr std::chrono::milliseconds tick_period{25};
constexpr std::size_t most_links = 4096;

}  // namespace

// The socket that other members call.
class ControlPlane::Acceptor : private comm::EventHandler {
  public:
    Acceptor(ControlPlane& plane, comm::ListeningSocket socket) : plane_(plane), socket_(std::move(socket)) {
        plane_.loop_.add(socket_.get(), *this);
    }
    ~Acceptor() override { plane_.loop_.remove(socket_.get()); }

  private:
    void ready(bool, bool) override {
        for (;;) {
            Descriptor caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (!caller.valid()) {
                return;
            }
            plane_.accept(std::move(caller));
        }
    }

    ControlPlane& plane_;
    comm::ListeningSocket socket_;
};

class ControlPlane::CommandSocket : public ControlSocket {
  public:
    using ControlSocket::ControlSocket;
};

ControlPlane::ControlPlane(PlaneSettings settings, comm::ListeningSocket service, GenerationStore& store,
                           BulkServer& bulk)
    : settings_(std::move(settings)),
      bulk_(bulk),
      coordinator_({.self = settings_.self.id,
                    .identity = settings_.identity,
                    .timing = settings_.timing,
                    .plan_addresses = plan_addresses(settings_.network),
                    .why_not = settings_.why_not},
                   store, *this),
      member_({.self = settings_.self, .identity = settings_.identity, .timing = settings_.timing}, store,
              *this, coordinator_, *this),
      acceptor_(std::make_unique<Acceptor>(*this, std::move(service))) {
    if (!settings_.control_socket.empty()) {
        commands_socket_ = std::make_unique<CommandSocket>(
            loop_, settings_.control_socket, [this](const std::string& command) { member_.wish(command); });
    }
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "mastic-member");
        run();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ControlPlane::~ControlPlane() {
    stopping_ = true;
    loop_.wake();
    thread_.join();
}

Seconds ControlPlane::now() {
    return comm::Clock::now().time_since_epoch();
}

void ControlPlane::at_step(Step step) {
    step_ = step;
    if (stopping_) {
        const std::lock_guard lock(mutex_);
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }
}

void ControlPlane::run() {
    try {
        while (!stopping_) {
            loop_.wait(tick_period);
            coordinator_.at_step(step_);
            work_off_commands();
            look_after_links();
            member_.tick(now());
            coordinator_.tick(now());
            if (coordinator_.take_checkpoint_wish()) {
                checkpoint_wished_ = true;
            }
            if (commands_socket_) {
                commands_socket_->forget_closed();
            }
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        state_.ended = true;
        state_.why = "the membership of this process has failed";
    }
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Command* command : commands_) {
        command->done = true;
        command->error = failure_;
    }
    commands_.clear();
    changed_.notify_all();
}

void ControlPlane::call(const std::function<void(Member&, Coordinator&, Seconds)>& function) {
    Command command{.function = &function};
    std::unique_lock lock(mutex_);
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    if (stopping_) {
        return;
    }
    commands_.push_back(&command);
    loop_.wake();
    changed_.wait(lock, [&] { return command.done; });
    if (command.error) {
        std::rethrow_exception(command.error);
    }
}

void ControlPlane::work_off_commands() {
    std::unique_lock lock(mutex_);
    while (!commands_.empty()) {
        Command* command = commands_.front();
        commands_.pop_front();
        lock.unlock();
        std::exception_ptr error;
        try {
            (*command->function)(member_, coordinator_, now());
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        command->error = error;
        command->done = true;
        changed_.notify_all();
    }
}

PlaneState ControlPlane::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

bool ControlPlane::wait_for(const std::function<bool(const PlaneState&)>& condition, Seconds bound) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, bound, [&] { return condition(state_) || failure_; });
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    return came;
}

void ControlPlane::on_abandon(std::function<void(GenerationId, const std::string&)> callback) {
    const std::lock_guard lock(mutex_);
    on_abandon_ = std::move(callback);
}

void ControlPlane::expect_regroup() {
    const std::lock_guard lock(mutex_);
    state_.regrouped.reset();
    state_.holders.clear();
}

template <class Change>
void ControlPlane::change(const Change& make_change) {
    const std::lock_guard lock(mutex_);
    make_change(state_);
    changed_.notify_all();
}

comm::SocketAddress ControlPlane::address_of(const MemberRecord& member) const {
    const std::vector<comm::HostAddresses> hosts{comm::unpack_host_addresses(settings_.self.addresses),
                                                 comm::unpack_host_addresses(member.addresses)};
    const comm::NetworkChoice choice = comm::choose_network(hosts, settings_.network);
    return hosts[1].addresses[choice.address[1]].address.with_port(member.service_port);
}

Link ControlPlane::dial(const MemberRecord& to) {
    try {
        const Link link = next_link_++;
        links_[link] = {.link = std::make_unique<ControlLink>(loop_, address_of(to), settings_.secret,
                                                              settings_.timing.timeout)};
        return link;
    } catch (const Error& error) {
        spdlog::warn("cannot reach member {} on {}: {}", to.id, to.host, error.what());
        return 0;
    }
}

void ControlPlane::send(Link link, const Message& message) {
    if (const auto found = links_.find(link); found != links_.end()) {
        found->second.link->send(encode(message));
    }
}

void ControlPlane::close(Link link) {
    if (const auto found = links_.find(link); found != links_.end()) {
        found->second.closing = true;
    }
}

void ControlPlane::accept(Descriptor caller) {
    if (links_.size() < most_links) {
        links_[next_link_++] = {.link = std::make_unique<ControlLink>(
                                    loop_, std::move(caller), settings_.secret, settings_.timing.timeout),
                                .incoming = true};
    }
}

void ControlPlane::look_after_links() {
    const auto time = comm::Clock::now();
    std::vector<Link> present;
    for (const auto& [id, open] : links_) {
        present.push_back(id);
    }
    for (const Link id : present) {
        OpenLink& open = links_.at(id);
        open.link->tick(time);
        if (!open.closing) {
            read(id, open.incoming, *open.link);
        }
        const std::optional<Loss> loss = open.link->loss();
        if (open.closing && open.link->is_flushed()) {
            links_.erase(id);
        } else if (loss) {
            const bool tell = !open.closing;
            if (open.link->refused_by_us() && !std::exchange(warned_, true)) {
                spdlog::warn(
                    "a process that {} could not prove to have the secret of this run; later ones are "
                    "dropped "
                    "without a message",
                    open.incoming ? "called" : "was called");
            }
            links_.erase(id);
            if (tell) {
                member_.lose(id, *loss, now());
                coordinator_.lose(id, *loss, now());
            }
        }
    }
}

void ControlPlane::read(Link id, bool incoming, ControlLink& link) {
    for (auto content = link.take(); content; content = link.take()) {
        if (incoming && content->starts_with(bulk_word)) {
            bulk_.serve(link.release(), *content);
            return;
        }
        try {
            const Message message = decode_message(*content);
            if (incoming) {
                coordinator_.hear(id, message, now());
            } else {
                member_.hear(id, message, now());
            }
        } catch (const Error& error) {
            spdlog::warn("a member's message was ignored: {}", error.what());
        }
    }
}

void ControlPlane::admitted(const MemberRecord& source) {
    change([&](PlaneState& state) {
        if (!state.source) {
            state.source = source;
            ++state.starts;
        }
    });
}

void ControlPlane::refused(const std::string& why) {
    change([&](PlaneState& state) {
        state.refused = true;
        state.why = why;
    });
}

void ControlPlane::unneeded(const std::string& why) {
    change([&](PlaneState& state) {
        state.unneeded = true;
        state.why = why;
    });
}

void ControlPlane::sent_back(const std::string& why) {
    spdlog::info("this newcomer begins anew: {}", why);
    change([&](PlaneState& state) {
        state.source.reset();
        state.pending = state.abandoned = 0;
        ++state.starts;
    });
}

void ControlPlane::committed(const Generation& next) {
    change([&](PlaneState& state) { state.pending = next.id; });
}

void ControlPlane::abandoned(GenerationId generation, const std::string& why) {
    std::function<void(GenerationId, const std::string&)> callback;
    change([&](PlaneState& state) {
        state.abandoned = generation;
        state.abandoned_why = why;
        callback = on_abandon_;
    });
    if (callback) {
        callback(generation, why);
    }
}

void ControlPlane::regrouped(const Generation& generation, const std::vector<std::string>& holders) {
    change([&](PlaneState& state) {
        state.regrouped = generation;
        state.holders = holders;
        state.pending = 0;
    });
}

void ControlPlane::ended(bool planned, const std::string& why) {
    change([&](PlaneState& state) {
        state.ended = true;
        state.planned_end = planned;
        state.why = why;
    });
    std::function<void(GenerationId, const std::string&)> callback;
    {
        const std::lock_guard lock(mutex_);
        callback = on_abandon_;
    }
    if (callback && !planned) {
        callback(member_.generation().id, why);
    }
}

void ControlPlane::wished(const std::string& answer) {
    if (commands_socket_) {
        commands_socket_->answer(answer);
    }
}

}  // namespace mastic::elastic
