#include <mastic/comm/shm/detail/shm_stream.hpp>

#include <algorithm>
#include <cstring>

#include <mastic/core/error.hpp>

namespace mastic::comm::detail {
namespace {

// Calls `copy(place in the ring, offset in the data, bytes)`, twice if the range wraps.
template <class Copy>
void for_range(std::size_t ring_bytes, std::uint64_t position, std::size_t bytes, const Copy& copy) {
    const std::size_t begin = position % ring_bytes;
    const std::size_t first = std::min(bytes, ring_bytes - begin);
    copy(begin, std::size_t(0), first);
    copy(std::size_t(0), first, bytes - first);
}

}  // namespace

ShmStream::ShmStream(NodeMemory& memory, int peer, int lane) : ring_bytes_(memory.cycle_bytes()) {
    memory.reserve_ring(peer, lane);
    const NodeLayout& layout = memory.layout();
    const auto ring = [&](int from, int to) {
        return Ring{reinterpret_cast<RingState*>(memory.at(from, layout.ring_state(to, lane))),
                    memory.at(from, layout.ring_data(to, lane))};
    };
    out_ = ring(memory.rank(), peer);
    in_ = ring(peer, memory.rank());
}

std::size_t ShmStream::send(const std::byte* data, std::size_t bytes) {
    if (ring_bytes_ - (sent_ - peer_received_) < bytes) {
        peer_received_ = out_.state->received.load(std::memory_order_acquire);
    }
    const std::size_t now = std::min(bytes, ring_bytes_ - static_cast<std::size_t>(sent_ - peer_received_));
    if (now > 0) {
        for_range(ring_bytes_, sent_, now, [&](std::size_t place, std::size_t offset, std::size_t length) {
            std::memcpy(out_.data + place, data + offset, length);
        });
        sent_ += now;
        out_.state->sent.store(sent_, std::memory_order_release);
    }
    return now;
}

std::size_t ShmStream::receive(std::byte* into, std::size_t bytes) {
    if (peer_sent_ - received_ < bytes) {
        peer_sent_ = in_.state->sent.load(std::memory_order_acquire);
    }
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, peer_sent_ - received_));
    if (now > 0) {
        for_range(ring_bytes_, received_, now,
                  [&](std::size_t place, std::size_t offset, std::size_t length) {
                      std::memcpy(into + offset, in_.data + place, length);
                  });
        received_ += now;
        in_.state->received.store(received_, std::memory_order_release);
    }
    return now;
}

Stream& ShmTransport::stream(int peer, int lane) {
    if (peer < 0 || peer >= memory_.size() || peer == memory_.rank() || lane < 0 ||
        lane >= memory_.layout().lanes()) {
        throw Error(ExitCode::usage,
                    "no stream to rank " + std::to_string(peer) + " on lane " + std::to_string(lane));
    }
    auto& stream = streams_[{peer, lane}];
    if (!stream) {
        stream = std::make_unique<ShmStream>(memory_, peer, lane);
    }
    return *stream;
}

}  // namespace mastic::comm::detail
