#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/loss_notice.hpp>
#include <mastic/comm/tcp/tcp_connection.hpp>
#include <mastic/comm/tcp/tcp_socket.hpp>
#include <mastic/comm/tcp/tcp_transport.hpp>
#include <mastic/comm/tcp/ticker.hpp>
#include <mastic/core/error.hpp>

#include "forked_ranks.hpp"

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;
using test::expect_success;
using test::run_ranks;
using testing::AnyOf;
using testing::HasSubstr;

const SocketAddress loopback = SocketAddress::parse("127.0.0.1").value();

// The error that `step` ends with; none after a time that is long for any machine.
Error error_of(EventLoop& loop, const std::function<void()>& step) {
    try {
        for (const auto begin = Clock::now(); Clock::now() - begin < 20s;) {
            step();
            loop.wait(100ms);
        }
    } catch (const Error& error) {
        return error;
    }
    return Error(ExitCode::done, "no error");
}

void send_byte(EventLoop& loop, Stream& stream) {
    const std::byte one{1};
    while (stream.send(&one, 1) == 0) {
        loop.wait(10s);
    }
}

void receive_byte(EventLoop& loop, Stream& stream) {
    std::byte one{};
    while (stream.receive(&one, 1) == 0) {
        loop.wait(10s);
    }
}

TEST(TcpFailure, AKilledPeerIsNamedByWhoeverWaitsForIt) {
    const auto statuses = run_ranks(3, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        for (int peer = 0; peer < 3; ++peer) {
            if (peer != exchange.rank()) {
                send_byte(loop, transport->stream(peer, 0));
            }
        }
        for (int peer = 0; peer < 3; ++peer) {
            if (peer != exchange.rank()) {
                receive_byte(loop, transport->stream(peer, 0));
            }
        }
        exchange.barrier();
        if (exchange.rank() == 1) {
            std::raise(SIGKILL);
        }
        Stream& stream = transport->stream(1, 0);
        std::byte byte{};
        const auto begin = Clock::now();
        const Error by_receive = error_of(loop, [&] { stream.receive(&byte, 1); });
        EXPECT_LT(Clock::now() - begin, 5s);
        EXPECT_EQ(by_receive.code(), ExitCode::collective);
        EXPECT_THAT(by_receive.what(), HasSubstr("rank 1 ("));
        EXPECT_THAT(by_receive.what(), AnyOf(HasSubstr("127.0.0.1) closed its connection"),
                                             HasSubstr("127.0.0.1) is lost, as another rank says")));
        EXPECT_THAT(by_receive.hint(), HasSubstr("killed"));
        // And again, also when sending.
        EXPECT_STREQ(error_of(loop, [&] { stream.send(&byte, 1); }).what(), by_receive.what());
    });
    expect_success(statuses, {1});
}

// In a ring of five ranks each would otherwise learn of it only when its neighbour has ended.
TEST(TcpFailure, WhoDoesNotWaitForTheKilledPeerIsToldByOthers) {
    const auto statuses = run_ranks(5, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        const int rank = exchange.rank();
        Stream& right = transport->stream((rank + 1) % 5, 0);
        Stream& left = transport->stream((rank + 4) % 5, 0);
        send_byte(loop, right);
        receive_byte(loop, left);
        exchange.barrier();
        if (rank == 2) {
            std::raise(SIGKILL);
        }
        std::byte byte{};
        const auto begin = Clock::now();
        const Error error = error_of(loop, [&] { left.receive(&byte, 1); });
        EXPECT_LT(Clock::now() - begin, 5s);
        EXPECT_EQ(error.code(), ExitCode::collective);
        EXPECT_THAT(error.what(), HasSubstr("rank 2 ("));
        // Nothing that is begun afterwards comes to an end either.
        EXPECT_THAT(error_of(loop, [&] { transport->stream((rank + 1) % 5, 1).receive(&byte, 1); }).what(),
                    HasSubstr("rank 2 ("));
    });
    expect_success(statuses, {2});
}

TEST(LossNotice, ReachesAllInAFewHops) {
    for (const int ranks : {2, 3, 7, 64, 1000}) {
        std::vector<bool> knows(static_cast<std::size_t>(ranks), false);
        constexpr int lost = 1;
        std::vector<int> newest = {0};
        knows[0] = knows[lost] = true;
        int hops = 0;
        for (; !newest.empty(); ++hops) {
            std::vector<int> next;
            for (const int rank : newest) {
                const auto told = whom_to_tell(rank, ranks, lost);
                EXPECT_LE(told.size(), 20u);
                for (const int other : told) {
                    if (!knows[static_cast<std::size_t>(other)]) {
                        knows[static_cast<std::size_t>(other)] = true;
                        next.push_back(other);
                    }
                }
            }
            newest = next;
        }
        EXPECT_EQ(std::ranges::count(knows, false), 0) << ranks;
        EXPECT_LE(hops, 11) << ranks;
    }
}

TEST(LossNotice, IsAHelloOfItsOwnKind) {
    EXPECT_EQ(lost_rank_of(loss_notice(3, 0)), 0);
    EXPECT_EQ(lost_rank_of(loss_notice(3, 17)), 17);
    EXPECT_EQ(lost_rank_of({3, 0}), std::nullopt);
}

TEST(TcpFailure, AKilledPeerIsNamedByASenderToo) {
    const auto statuses = run_ranks(2, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        Stream& stream = transport->stream(1 - exchange.rank(), 0);
        if (exchange.rank() == 1) {
            receive_byte(loop, stream);
            std::raise(SIGKILL);
        }
        const std::vector<std::byte> data(1 << 20);
        const Error error = error_of(loop, [&] { stream.send(data.data(), data.size()); });
        EXPECT_EQ(error.code(), ExitCode::collective);
        EXPECT_THAT(error.what(), HasSubstr("rank 1 ("));
        EXPECT_THAT(error.what(), HasSubstr("connection"));
    });
    expect_success(statuses, {1});
}

TEST(TcpFailure, WhatAPeerSentBeforeItEndedStillArrives) {
    expect_success(run_ranks(2, [](Group& exchange) {
        EventLoop loop;
        auto transport = TcpTransport::create(exchange, loop, {});
        if (exchange.rank() == 0) {
            send_byte(loop, transport->stream(1, 0));
            transport.reset();
            exchange.barrier();
            return;
        }
        exchange.barrier();
        Stream& stream = transport->stream(0, 0);
        loop.wait(100ms);
        receive_byte(loop, stream);
        std::byte byte{};
        EXPECT_THAT(error_of(loop, [&] { stream.receive(&byte, 1); }).what(),
                    HasSubstr("closed its connection"));
    }));
}

// A connection to `address`, on whose other end is nobody of ours.
struct Call {
    explicit Call(const SocketAddress& address, Seconds timeout)
        : peer{.rank = 4, .host = "node4", .address = address}, connection(loop, peer, lost, Seconds(5)) {
        connection.connect(encode_hello({.rank = 0, .lane = 0}, Token{}), timeout);
    }
    Error ends_with() {
        const Ticker ticker(loop, 20ms, [this](Clock::time_point now) { connection.tick(now); });
        return error_of(loop, [this] {
            std::byte byte{};
            connection.receive(&byte, 1);
        });
    }
    EventLoop loop;
    TcpPeer peer;
    FirstLost lost;
    TcpConnection connection;
};

TEST(TcpFailure, ConnectingWhereNobodyListensIsBounded) {
    // Bound, so that nobody else gets the port, but not listening.
    const Descriptor taken = open_tcp_socket(AF_INET);
    ASSERT_EQ(::bind(taken.get(), loopback.data(), loopback.size()), 0);
    Call call(SocketAddress::local_of(taken.get()), Seconds(0.3));
    const Error error = call.ends_with();
    EXPECT_EQ(error.code(), ExitCode::collective);
    EXPECT_THAT(error.what(), HasSubstr("rank 4 (node4, 127.0.0.1) refuses connections"));
    EXPECT_THAT(error.hint(), HasSubstr("firewall"));
}

TEST(TcpFailure, ConnectingWithoutAnAnswerIsBounded) {
    // A listener whose queue is full drops further callers silently, as a firewall does.
    const Descriptor listener = open_tcp_socket(AF_INET);
    ASSERT_EQ(::bind(listener.get(), loopback.data(), loopback.size()), 0);
    ASSERT_EQ(::listen(listener.get(), 0), 0);
    const SocketAddress address = SocketAddress::local_of(listener.get());
    std::vector<Descriptor> fill;
    for (int i = 0; i < 4; ++i) {
        fill.push_back(open_tcp_socket(AF_INET));
        ::connect(fill.back().get(), address.data(), address.size());
    }
    Call call(address, Seconds(0.3));
    const Error error = call.ends_with();
    EXPECT_THAT(error.what(), HasSubstr("rank 4 (node4, 127.0.0.1) could not be reached on port " +
                                        std::to_string(address.port()) + ": no answer"));
    EXPECT_THAT(error.hint(), HasSubstr("firewall"));
}

}  // namespace
}  // namespace mastic::comm
