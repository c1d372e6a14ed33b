// Runs the state machines of membership in a thread of their own, over TCP, and hands connections for bulk transfers to the
// server. The trainer's thread asks and is told through it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/tcp/listening_socket.hpp>
#include <mastic/elastic/bulk_server.hpp>
#include <mastic/elastic/control_link.hpp>
#include <mastic/elastic/coordinator.hpp>
#include <mastic/elastic/member.hpp>

namespace mastic::elastic {

struct PlaneSettings {
    MemberRecord self;
    std::string identity;
    std::string network = "auto";
    Timing timing{};
    Secret secret{};
    std::filesystem::path control_socket;  // none: empty
    Judge why_not = {};
};

// What the trainer's thread must know, as of now.
struct PlaneState {
    GenerationId pending = 0;    // committed; to be agreed on at a boundary
    GenerationId abandoned = 0;  // this generation's group is over
    std::string abandoned_why;
    std::optional<MemberRecord> source;   // a newcomer's
    std::uint64_t starts = 0;             // of a newcomer: how often it has begun to fetch the state
    std::optional<Generation> regrouped;  // the answer to the last report
    std::vector<std::string> holders;
    bool ended = false;
    bool planned_end = false;
    bool refused = false;
    bool unneeded = false;
    std::string why;
};

class ControlPlane : private Network, private MemberEvents {
  public:
    // All references outlive it. Throws Error(environment), Error(io).
    ControlPlane(PlaneSettings settings, comm::ListeningSocket service, GenerationStore& store,
                 BulkServer& bulk);
    ~ControlPlane() override;  // says nothing to anybody: the others see closed connections

    // Runs on the plane's thread; returns when it has.
    void call(const std::function<void(Member&, Coordinator&, Seconds now)>& command);

    // The trainer has completed this step. Does not wait for the plane's thread; throws what has ended that.
    void at_step(Step step);
    // True once after somebody has asked for a checkpoint.
    bool take_checkpoint_wish() { return checkpoint_wished_.exchange(false); }

    PlaneState state() const;
    // Until `condition` holds, for at most `bound`.
    bool wait_for(const std::function<bool(const PlaneState&)>& condition, Seconds bound);
    // Called on the plane's thread when the group of a generation must end.
    void on_abandon(std::function<void(GenerationId, const std::string&)> callback);
    // Forgets the answer to an earlier report.
    void expect_regroup();

    // How this process reaches that member.
    comm::SocketAddress address_of(const MemberRecord& member) const;

  private:
    class Acceptor;
    class CommandSocket;

    Link dial(const MemberRecord& to) override;
    void send(Link link, const Message& message) override;
    void close(Link link) override;
    void admitted(const MemberRecord& source) override;
    void refused(const std::string& why) override;
    void unneeded(const std::string& why) override;
    void sent_back(const std::string& why) override;
    void committed(const Generation& next) override;
    void abandoned(GenerationId generation, const std::string& why) override;
    void regrouped(const Generation& generation, const std::vector<std::string>& holders) override;
    void ended(bool planned, const std::string& why) override;
    void wished(const std::string& answer) override;

    void run();
    void work_off_commands();
    void look_after_links();
    void read(Link id, bool incoming, ControlLink& link);
    void accept(Descriptor caller);
    template <class Change>
    void change(const Change& change);
    static Seconds now();

    struct OpenLink {
        std::unique_ptr<ControlLink> link;
        bool incoming = false;
        bool closing = false;  // by this end, once everything is sent
    };

    const PlaneSettings settings_;
    BulkServer& bulk_;
    comm::EventLoop loop_;
    std::map<Link, OpenLink> links_;  // of the plane's thread, as is what follows
    Link next_link_ = 1;
    Coordinator coordinator_;
    Member member_;
    std::unique_ptr<Acceptor> acceptor_;
    std::unique_ptr<CommandSocket> commands_socket_;
    bool warned_ = false;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    PlaneState state_;
    std::function<void(GenerationId, const std::string&)> on_abandon_;
    struct Command {
        const std::function<void(Member&, Coordinator&, Seconds)>* function = nullptr;
        bool done = false;
        std::exception_ptr error{};
    };
    std::list<Command*> commands_;
    std::atomic<Step> step_{0};
    std::atomic<bool> checkpoint_wished_{false};
    std::atomic<bool> stopping_{false};
    std::exception_ptr failure_;  // of the thread: what the trainer's thread gets
    std::thread thread_;
};

}  // namespace mastic::elastic
