#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/hello.hpp>
#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/comm/tcp/tcp_transport.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>

#include "support/captured_log.hpp"
#include "forked_ranks.hpp"

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;
using test::expect_success;
using test::run_ranks;

using Data = std::vector<std::byte>;

Data random_data(std::size_t bytes, std::uint64_t seed) {
    CounterRandom random(seed);
    Data data(bytes);
    std::ranges::generate(data, [&] { return static_cast<std::byte>(random.next()); });
    return data;
}

std::uint64_t seed_of(int from, int to, int lane) {
    return static_cast<std::uint64_t>(from * 10000 + to * 100 + lane);
}

// One direction of a stream, moved in pieces of random size.
struct Flow {
    Stream* stream;
    Data data;
    bool sends;
    std::size_t done = 0;
    CounterRandom sizes{1};

    // True if something moved.
    bool step() {
        const std::size_t piece = std::min<std::size_t>(data.size() - done, 1 + sizes.below(100000));
        const std::size_t moved =
            sends ? stream->send(data.data() + done, piece) : stream->receive(data.data() + done, piece);
        done += moved;
        return moved > 0;
    }
    bool complete() const { return done == data.size(); }
};

void move_all(std::vector<Flow>& flows, EventLoop& loop) {
    const auto complete = [](const Flow& flow) { return flow.complete(); };
    while (!std::ranges::all_of(flows, complete)) {
        bool moved = false;
        for (Flow& flow : flows) {
            moved = flow.step() || moved;
        }
        if (!moved) {
            loop.wait(10s);
        }
    }
}

// All ranks send to all others on all lanes at the same time.
void exchange_everything(Group& exchange, TcpTransport& transport, EventLoop& loop, int lanes,
                         std::size_t bytes) {
    std::vector<Flow> flows;
    const int self = exchange.rank();
    for (int peer = 0; peer < exchange.size(); ++peer) {
        for (int lane = 0; lane < lanes && peer != self; ++lane) {
            Stream* const stream = &transport.stream(peer, lane);
            flows.push_back({stream, random_data(bytes, seed_of(self, peer, lane)), true});
            flows.push_back({stream, Data(bytes), false});
        }
    }
    move_all(flows, loop);
    auto flow = flows.begin();
    for (int peer = 0; peer < exchange.size(); ++peer) {
        for (int lane = 0; lane < lanes && peer != self; ++lane) {
            EXPECT_EQ(flow->stream->released(), bytes);
            ++flow;
            EXPECT_EQ(checksum(flow->data), checksum(random_data(bytes, seed_of(peer, self, lane))));
            ++flow;
        }
    }
    exchange.barrier();
}

TEST(TcpTransport, PiecesOfRandomSizeArriveIntactInBothDirectionsOnSeveralLanes) {
    expect_success(run_ranks(3, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        EXPECT_TRUE(transport->event_driven(0));
        EXPECT_EQ(transport->description(), "TCP on 127.0.0.0/8 (lo)");
        exchange_everything(exchange, *transport, loop, 3, 3'000'001);
    }));
}

TEST(TcpTransport, ManyLanes) {
    expect_success(run_ranks(2, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        exchange_everything(exchange, *transport, loop, 200, 5000);
    }));
}

TEST(TcpTransport, WorksOverIPv6) {
    const HostAddresses here = find_host_addresses();
    if (std::ranges::none_of(here.addresses, [](const auto& one) { return one.address.host() == "::1"; })) {
        GTEST_SKIP() << "this machine has no IPv6 loopback";
    }
    expect_success(run_ranks(2, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {.network = "::1/128"});
        EXPECT_EQ(transport->description(), "TCP on ::1/128 (lo)");
        exchange_everything(exchange, *transport, loop, 2, 100000);
    }));
}

TEST(TcpTransport, ALaneMayBeUsedLongBeforeThePeerAsksForIt) {
    expect_success(run_ranks(2, [](Group& exchange) {
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        if (exchange.rank() == 0) {
            std::vector<Flow> flows{{&transport->stream(1, 5), random_data(1000, 1), true}};
            move_all(flows, loop);
            exchange.barrier();
        } else {
            exchange.barrier();
            for (int i = 0; i < 20; ++i) {
                loop.wait(1ms);  // accepts it
            }
            std::vector<Flow> flows{{&transport->stream(0, 5), Data(1000), false}};
            move_all(flows, loop);
            EXPECT_EQ(checksum(flows[0].data), checksum(random_data(1000, 1)));
        }
        exchange.barrier();
    }));
}

// The receiver pauses for much longer than `silence`, with more on the way than all buffers hold. Such a peer is slow, not
// dead.
TEST(TcpTransport, AReceiverThatDoesNotReadHoldsTheSenderBackWithoutAnError) {
    expect_success(run_ranks(2, [](Group& exchange) {
        constexpr std::size_t bytes = 24 << 20;
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {.silence = Seconds(1)});
        std::vector<Flow> flows;
        flows.push_back(
            {&transport->stream(1 - exchange.rank(), 0), Data(bytes, std::byte{42}), exchange.rank() == 0});
        std::size_t taken = 0;
        if (exchange.rank() == 0) {
            for (const auto begin = Clock::now(); Clock::now() - begin < 3s;) {
                if (!flows[0].step()) {
                    loop.wait(100ms);
                }
            }
            taken = flows[0].done;
            EXPECT_LT(taken, bytes);
            EXPECT_GT(taken, 0u);
            exchange.barrier();
        } else {
            flows[0].data.assign(bytes, std::byte{0});
            exchange.barrier();
        }
        move_all(flows, loop);
        EXPECT_TRUE(std::ranges::all_of(flows[0].data, [](std::byte one) { return one == std::byte{42}; }));
        exchange.barrier();
    }));
}

// Where this process listens.
SocketAddress find_listener() {
    for (int number = 0; number < 1000; ++number) {
        int listens = 0;
        socklen_t size = sizeof listens;
        if (::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
            SocketAddress::local_of(number).family() == AF_INET) {
            return SocketAddress::local_of(number);
        }
    }
    throw Error(ExitCode::environment, "this process does not listen");
}

TEST(TcpTransport, StrangersAreDroppedAndTheGroupGoesOn) {
    expect_success(run_ranks(2, [](Group& exchange) {
        const test::CapturedLog log;
        EventLoop loop;
        const auto transport = TcpTransport::create(exchange, loop, {});
        const SocketAddress address = find_listener();
        std::vector<Descriptor> strangers;
        for (const HelloBytes& words : {HelloBytes{}, encode_hello({.rank = 0, .lane = 0}, random_token())}) {
            strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            EXPECT_EQ(::connect(strangers.back().get(), address.data(), address.size()), 0);
            EXPECT_EQ(::send(strangers.back().get(), words.data(), words.size(), MSG_NOSIGNAL),
                      static_cast<ssize_t>(words.size()));
        }
        strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // says nothing
        EXPECT_EQ(::connect(strangers.back().get(), address.data(), address.size()), 0);
        exchange_everything(exchange, *transport, loop, 2, 100000);
        for (const std::size_t i : {0u, 1u}) {
            char byte = 0;
            EXPECT_LE(::recv(strangers[i].get(), &byte, 1, 0), 0);
        }
        EXPECT_THAT(log.text(), testing::HasSubstr("is not of this group"));
    }));
}

TEST(TcpTransport, LeavesNoDescriptorBehind) {
    expect_success(run_ranks(3, [](Group& exchange) {
        const auto open = [] {
            const std::filesystem::directory_iterator all("/proc/self/fd");
            return std::distance(begin(all), end(all));
        };
        const auto before = open();
        {
            EventLoop loop;
            const auto transport = TcpTransport::create(exchange, loop, {});
            exchange_everything(exchange, *transport, loop, 4, 1000);
            EXPECT_GT(open(), before + 4);
        }
        EXPECT_EQ(open(), before);
        exchange.barrier();
    }));
}

TEST(TcpTransport, AllRanksThrowTheSameErrorIfThereIsNoSuchNetwork) {
    expect_success(run_ranks(2, [](Group& exchange) {
        EventLoop loop;
        std::string message;
        try {
            TcpTransport::create(exchange, loop, {.network = "no-such-interface"});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::environment);
            message = error.full_message();
        }
        EXPECT_THAT(message, testing::HasSubstr("ranks 0-1"));
        for (const std::string& other : exchange.allgather_strings(message)) {
            EXPECT_EQ(other, message);
        }
    }));
}

}  // namespace
}  // namespace mastic::comm
