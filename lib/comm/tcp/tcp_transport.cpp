#include <mastic/comm/tcp/tcp_transport.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/comm/tcp/loss_notice.hpp>
#include <mastic/comm/tcp/network_choice.hpp>
#include <mastic/comm/tcp/tcp_connection.hpp>
#include <mastic/comm/tcp/tcp_listener.hpp>
#include <mastic/comm/tcp/ticker.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

constexpr auto tick_period = std::chrono::milliseconds(250);
constexpr Seconds longest_notice{0.1};

class ListeningTransport : public TcpTransport {
  public:
    ListeningTransport(EventLoop& loop, const TcpOptions& options, TcpTable table, ListeningSocket listener)
        : loop_(loop),
          options_(options),
          self_(std::move(table)),
          lost_{.record = options_.losses.get()},
          listener_(loop, std::move(listener)),
          ticker_(loop, tick_period, [this](Clock::time_point now) { tick(now); }) {
        lost_.tell_others = [this](int rank) {
            tell_of_loss(self_.peers, self_.rank, rank, self_.token, longest_notice);
        };
        listener_.start(self_.token, [this](const Hello& hello, Descriptor connected) {
            return adopt(hello, std::move(connected));
        });
    }

    // A rank that ends because of a lost one keeps its own connections for a moment: a process that dies closes its sockets
    // one after the other, and the other ranks must not hear of this one first.
    ~ListeningTransport() override {
        if (lost_.reported) {
            std::this_thread::sleep_for(options_.linger);
        }
    }

    Stream& stream(int peer, int lane) override {
        if (!is_peer(peer) || lane < 0) {
            throw Error(ExitCode::usage, "there is no stream to rank " + std::to_string(peer) + ", lane " +
                                             std::to_string(lane));
        }
        return connection(peer, lane);
    }

    bool event_driven(int) const override { return true; }
    std::string description() const override { return "TCP on " + self_.description; }

  private:
    bool is_peer(int rank) const {
        return rank >= 0 && static_cast<std::size_t>(rank) < self_.peers.size() && rank != self_.rank;
    }

    // Made when this rank asks for it or when the peer calls, whichever is first.
    TcpConnection& connection(int peer, int lane) {
        auto& slot = connections_[std::uint64_t(static_cast<std::uint32_t>(peer)) << 32 |
                                  static_cast<std::uint32_t>(lane)];
        if (!slot) {
            slot = std::make_unique<TcpConnection>(loop_, self_.peers[static_cast<std::size_t>(peer)], lost_,
                                                   options_.silence);
            if (known_lost_ != nullptr) {
                slot->give_up(*known_lost_);
            } else if (self_.rank < peer) {
                slot->connect(encode_hello({self_.rank, lane}, self_.token), options_.connect_timeout);
            }
        }
        return *slot;
    }

    bool adopt(const Hello& hello, Descriptor connected) {
        if (const auto lost = lost_rank_of(hello)) {
            return hear_of_loss(*lost);
        }
        if (!is_peer(hello.rank) || hello.rank > self_.rank || hello.lane < 0) {
            return false;
        }
        return connection(hello.rank, hello.lane).adopt(std::move(connected));
    }

    bool hear_of_loss(int rank) {
        if (!is_peer(rank)) {
            return false;
        }
        if (known_lost_ == nullptr) {
            known_lost_ = &self_.peers[static_cast<std::size_t>(rank)];
            for (auto& [key, connection] : connections_) {
                connection->give_up(*known_lost_);
            }
        }
        return true;
    }

    void tick(Clock::time_point now) {
        listener_.tick(now);
        for (auto& [key, connection] : connections_) {
            connection->tick(now);
        }
        forget_lost_peers();
    }

    // A peer that was lost closes what it has; what another lane has not connected yet would be waited for.
    void forget_lost_peers() {
        std::unordered_set<int> lost;
        for (auto& [key, connection] : connections_) {
            if (connection->is_closed_by_peer()) {
                lost.insert(connection->peer_rank());
            }
        }
        for (auto& [key, connection] : connections_) {
            if (lost.contains(connection->peer_rank())) {
                connection->give_up_waiting();
            }
        }
    }

    EventLoop& loop_;
    const TcpOptions options_;
    const TcpTable self_;
    FirstLost lost_;
    const TcpPeer* known_lost_ = nullptr;  // from another rank
    std::unordered_map<std::uint64_t, std::unique_ptr<TcpConnection>> connections_;
    TcpListener listener_;
    Ticker ticker_;
};

// Runs a step that every rank does alike, so that its error is the same on all.
template <class Function>
auto alike(const Function& step) {
    try {
        return step();
    } catch (const Error& error) {
        throw AgreedError(error);
    }
}

std::vector<HostAddresses> gather_addresses(Group& exchange) {
    std::string mine;
    run_together(exchange, [&] { mine = pack(find_host_addresses()); });
    std::vector<HostAddresses> by_rank;
    for (const std::string& text : exchange.allgather_strings(mine)) {
        by_rank.push_back(unpack_host_addresses(text));
    }
    return by_rank;
}

std::vector<TcpPeer> gather_peers(Group& exchange, const std::vector<HostAddresses>& hosts,
                                  const NetworkChoice& choice, std::uint16_t port) {
    std::vector<std::uint16_t> ports;
    for (const std::string& text : exchange.allgather_strings(std::to_string(port))) {
        ports.push_back(static_cast<std::uint16_t>(std::stoi(text)));
    }
    std::vector<TcpPeer> peers;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const SocketAddress& address = hosts[rank].addresses[choice.address[rank]].address;
        peers.push_back({.rank = static_cast<int>(rank),
                         .host = hosts[rank].name,
                         .address = address.with_port(ports[rank])});
    }
    return peers;
}

}  // namespace

std::unique_ptr<TcpTransport> TcpTransport::create(Group& exchange, EventLoop& loop,
                                                   const TcpOptions& options) {
    const std::vector<HostAddresses> hosts = gather_addresses(exchange);
    const NetworkChoice choice = alike([&] { return choose_network(hosts, options.network); });
    const auto rank = static_cast<std::size_t>(exchange.rank());
    const InterfaceAddress& mine = hosts[rank].addresses[choice.address[rank]];
    std::optional<ListeningSocket> listener;
    run_together(exchange, [&] { listener.emplace(mine.address); });
    const Token token = unpack_token(run_on_first(exchange, [] { return pack(random_token()); }));
    return open(loop,
                {.rank = exchange.rank(),
                 .peers = gather_peers(exchange, hosts, choice, listener->address().port()),
                 .token = token,
                 .description = choice.network + " (" + mine.interface + ")"},
                std::move(*listener), options);
}

std::unique_ptr<TcpTransport> TcpTransport::open(EventLoop& loop, TcpTable table, ListeningSocket listener,
                                                 const TcpOptions& options) {
    return std::make_unique<ListeningTransport>(loop, options, std::move(table), std::move(listener));
}

}  // namespace mastic::comm
