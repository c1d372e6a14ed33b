// How bytes travel between ranks: a stream in each direction between two ranks, on each lane. Operations of one lane run
// one after the other on all ranks, so what one operation sends on a stream cannot meet another operation.
//
// Rules: one thread at a time drives a transport and its streams. No function waits. What fails (a peer that died)
// throws Error(collective) naming the peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mastic::comm {

class Stream {
  public:
    virtual ~Stream() = default;

    // Takes up to `bytes` for the peer and returns how many; 0: not now. What was taken must stay unchanged until
    // released() has counted it.
    virtual std::size_t send(const std::byte* data, std::size_t bytes) = 0;
    // Bytes of all sends so far whose memory is free again.
    virtual std::uint64_t released() = 0;
    // Fills up to `bytes` with what the peer sent next and returns how many; 0: nothing yet.
    virtual std::size_t receive(std::byte* into, std::size_t bytes) = 0;
};

class Transport {
  public:
    virtual ~Transport() = default;

    // Connects when first asked for; both ends ask for it. The reference stays valid as long as the transport.
    virtual Stream& stream(int peer, int lane) = 0;
    // Whether the event loop announces what the streams to and from `peer` wait for, so that nobody needs to poll.
    virtual bool event_driven(int peer) const = 0;
    virtual std::string description() const = 0;  // "TCP on 10.0.0.0/24 (eth0)"
};

}  // namespace mastic::comm
