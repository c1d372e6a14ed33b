// One end of the connection of two ranks on one lane, and its beginnings: until it is there, nothing is sent or received.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/lost_rank.hpp>
#include <mastic/comm/tcp/connector.hpp>
#include <mastic/comm/tcp/hello.hpp>
#include <mastic/comm/tcp/tcp_peer.hpp>
#include <mastic/comm/transport.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

// The peer that closed a connection first. When a rank dies, those that notice end too and close theirs: only the first is
// to blame.
struct FirstLost {
    const TcpPeer* peer = nullptr;
    bool reported = false;         // by a connection of this rank
    LossRecord* record = nullptr;  // told of every loss; may be null
    // Called once, when an operation fails because of a loss.
    std::function<void(int rank)> tell_others = {};
};

class TcpConnection : public Stream, private EventHandler {
  public:
    // `loop`, `peer` and `lost`, which all connections of a group share, must outlive it.
    TcpConnection(EventLoop& loop, const TcpPeer& peer, FirstLost& lost, Seconds silence);
    ~TcpConnection() override;
    TcpConnection(const TcpConnection&) = delete;
    TcpConnection& operator=(const TcpConnection&) = delete;

    // One of these, once: calls the peer, for at most `timeout`, and says hello; or takes the peer's call, false if it
    // has called before.
    void connect(const HelloBytes& hello, Seconds timeout);
    bool adopt(Descriptor accepted);
    // To be called now and then: repeats failed attempts and notices that the peer has vanished.
    void tick(Clock::time_point now);

    int peer_rank() const { return peer_.rank; }
    bool is_closed_by_peer() const { return hung_up_; }
    // The peer is known to be gone: a connection that is not there yet will not come.
    void give_up_waiting();
    // A member of the group is known to be lost, so nothing that the group does will come to its end.
    void give_up(const TcpPeer& lost);

    std::size_t send(const std::byte* data, std::size_t bytes) override;
    std::uint64_t released() override { return sent_; }  // the kernel copies
    std::size_t receive(std::byte* into, std::size_t bytes) override;

  private:
    void ready(bool readable, bool writable) override;
    void hung_up() override;
    void advance(bool told);
    void look_for_life(Clock::time_point now);
    void check();
    void fail(const TcpPeer& culprit, const std::string& what, const std::string& hint);
    void fail_to_connect();
    void fail_by(int error);

    EventLoop& loop_;
    const TcpPeer& peer_;
    FirstLost& lost_;
    const Seconds silence_;
    std::unique_ptr<Connector> connector_;  // while it connects
    HelloBytes hello_{};
    Descriptor socket_;
    bool readable_ = false;  // as far as is known: until a call says EAGAIN
    bool writable_ = false;
    std::uint64_t sent_ = 0;
    std::optional<Clock::time_point> unanswered_since_;
    bool hung_up_ = false;
    std::optional<LostRankError> failure_;  // thrown by every call from then on
};

}  // namespace mastic::comm
