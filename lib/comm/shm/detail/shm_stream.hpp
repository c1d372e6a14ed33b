// A stream in each direction between two ranks: a ring of bytes in the sender's file, with one sender and one receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <mastic/comm/shm/detail/node_memory.hpp>
#include <mastic/comm/transport.hpp>

namespace mastic::comm::detail {

class ShmStream : public Stream {
  public:
    // Throws Error(environment) if there is no room for the ring.
    ShmStream(NodeMemory& memory, int peer, int lane);

    std::size_t send(const std::byte* data, std::size_t bytes) override;
    std::uint64_t released() override { return sent_; }  // copied at once
    std::size_t receive(std::byte* into, std::size_t bytes) override;

  private:
    struct Ring {
        RingState* state = nullptr;
        std::byte* data = nullptr;
    };
    std::size_t ring_bytes_;
    Ring out_;
    Ring in_;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    // What the peer had done when last looked at: its line is fetched only when that is not enough.
    std::uint64_t peer_received_ = 0;
    std::uint64_t peer_sent_ = 0;
};

class ShmTransport : public Transport {
  public:
    explicit ShmTransport(NodeMemory& memory) : memory_(memory) {}

    Stream& stream(int peer, int lane) override;
    bool event_driven(int) const override { return false; }
    std::string description() const override { return "shared memory"; }

  private:
    NodeMemory& memory_;
    std::map<std::pair<int, int>, std::unique_ptr<ShmStream>> streams_;  // by peer and lane
};

}  // namespace mastic::comm::detail
