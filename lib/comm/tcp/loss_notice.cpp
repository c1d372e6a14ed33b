#include <mastic/comm/tcp/loss_notice.hpp>

#include <algorithm>
#include <chrono>

#include <poll.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_socket.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::comm {

Hello loss_notice(int from, int lost) {
    return {from, -1 - lost};
}

std::optional<int> lost_rank_of(const Hello& hello) {
    return hello.lane < 0 ? std::optional(-1 - hello.lane) : std::nullopt;
}

std::vector<int> whom_to_tell(int self, int ranks, int lost) {
    std::vector<int> told;
    for (int distance = 1; distance < ranks; distance *= 2) {
        for (const int rank : {(self + distance) % ranks, (self - distance + ranks) % ranks}) {
            if (rank != self && rank != lost && std::ranges::find(told, rank) == told.end()) {
                told.push_back(rank);
            }
        }
    }
    return told;
}

void tell_of_loss(std::span<const TcpPeer> peers, int self, int lost, const Token& token, Seconds bound) {
    using Clock = std::chrono::steady_clock;
    std::vector<Descriptor> sockets;
    std::vector<pollfd> calls;
    for (const int rank : whom_to_tell(self, static_cast<int>(peers.size()), lost)) {
        const SocketAddress& to = peers[static_cast<std::size_t>(rank)].address;
        Descriptor socket = open_tcp_socket(to.family());
        if (socket.valid()) {
            ::connect(socket.get(), to.data(), to.size());  // what comes of it, poll says
            calls.push_back({socket.get(), POLLOUT, 0});
            sockets.push_back(std::move(socket));
        }
    }
    const HelloBytes notice = encode_hello(loss_notice(self, lost), token);
    const auto end = Clock::now() + bound;
    while (!calls.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        if (left.count() <= 0 || ::poll(calls.data(), calls.size(), static_cast<int>(left.count())) <= 0) {
            return;
        }
        std::erase_if(calls, [&](const pollfd& call) {
            if (call.revents != 0) {
                ::send(call.fd, notice.data(), notice.size(), MSG_NOSIGNAL);
            }
            return call.revents != 0;
        });
    }
}

}  // namespace mastic::comm
