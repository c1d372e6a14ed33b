// A connection between members, for messages: connects, proves the secret, and then carries frames. Never waits; whoever owns
// it looks after it when the event loop has told it something, or time has passed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/elastic/handshake.hpp>
#include <mastic/elastic/message.hpp>
#include <mastic/elastic/network.hpp>

namespace mastic::elastic {

class ControlLink : private comm::EventHandler {
  public:
    // Calls `to`, or takes a call. `patience`: for the connection and the proof. `loop` outlives it.
    ControlLink(comm::EventLoop& loop, const comm::SocketAddress& to, const Secret& secret, Seconds patience);
    ControlLink(comm::EventLoop& loop, Descriptor accepted, const Secret& secret, Seconds patience);
    ~ControlLink() override;
    ControlLink(const ControlLink&) = delete;
    ControlLink& operator=(const ControlLink&) = delete;

    void send(const std::string& framed);
    // Nothing waits to be sent any more.
    bool is_flushed() const { return loss_ || (output_.empty() && proof_.empty()); }
    void tick(comm::Clock::time_point now);

    // The next frame that came; what came before a loss still counts.
    std::optional<std::string> take();
    // Set once it is of no more use. A stranger's proof failed: `refused_by_us()`.
    const std::optional<Loss>& loss() const { return loss_; }
    bool refused_by_us() const { return handshake_.refused(); }
    // Hands the connection over to somebody who knows what follows the frame that was taken.
    Descriptor release();

  private:
    void ready(bool readable, bool writable) override;
    void finish_connecting();
    void flush();
    void lose(Loss loss);

    comm::EventLoop& loop_;
    Descriptor socket_;
    Handshake handshake_;
    const comm::Clock::time_point deadline_;
    bool connecting_ = false;
    bool proved_ = false;
    std::string output_;            // sent after the proof
    std::vector<std::byte> proof_;  // sent before
    FrameReader reader_;
    std::optional<Loss> loss_;
};

}  // namespace mastic::elastic
