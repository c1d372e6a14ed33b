#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_listener.hpp>

#include "support/captured_log.hpp"

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;

const SocketAddress loopback = SocketAddress::parse("127.0.0.1").value();

struct Fixture : testing::Test {
    explicit Fixture(const ListenerLimits& limits = {}) : listener(loop, loopback, limits) {
        listener.start(token, [this](const Hello& hello, Descriptor connected) {
            accepted.push_back(hello);
            connections.push_back(std::move(connected));
            return true;
        });
    }

    Descriptor call() {
        Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::connect(socket.get(), listener.address().data(), listener.address().size()), 0);
        return socket;
    }
    static void say(const Descriptor& socket, const void* data, std::size_t bytes) {
        EXPECT_EQ(::send(socket.get(), data, bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
    }
    Descriptor call(const Hello& hello, const Token& with) {
        Descriptor socket = call();
        const HelloBytes bytes = encode_hello(hello, with);
        say(socket, bytes.data(), bytes.size());
        return socket;
    }
    // False if it does not happen within a time that is long for any machine.
    bool comes_true(const std::function<bool()>& condition) {
        for (const auto begin = Clock::now(); Clock::now() - begin < 20s;) {
            if (condition()) {
                return true;
            }
            loop.wait(5ms);
            listener.tick(Clock::now());
        }
        return false;
    }
    static bool is_closed(const Descriptor& socket) {
        char byte = 0;
        return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR);
    }

    std::ptrdiff_t lines_logged() const { return std::ranges::count(log.text(), '\n'); }

    test::CapturedLog log;
    EventLoop loop;
    Token token = random_token();
    std::vector<Hello> accepted;
    std::vector<Descriptor> connections;
    TcpListener listener;
};

struct TcpListenerTest : Fixture {};
struct ImpatientListenerTest : Fixture {
    ImpatientListenerTest() : Fixture({.hello_within = 50ms, .most_unproved = 3}) {}
};

TEST_F(TcpListenerTest, TakesARankOfItsGroupAndLeavesWhatFollowsTheHello) {
    const Descriptor socket = call({.rank = 3, .lane = 7}, token);
    say(socket, "data", 4);
    ASSERT_TRUE(comes_true([&] { return !accepted.empty(); }));
    EXPECT_EQ(accepted[0].rank, 3);
    EXPECT_EQ(accepted[0].lane, 7);
    char data[8] = "";
    ASSERT_TRUE(comes_true([&] { return ::recv(connections[0].get(), data, sizeof data, MSG_PEEK) == 4; }));
    EXPECT_STREQ(data, "data");
    EXPECT_EQ(log.text(), "");
}

TEST_F(TcpListenerTest, AHelloMayComeInPieces) {
    const Descriptor socket = call();
    const HelloBytes bytes = encode_hello({.rank = 1, .lane = 0}, token);
    for (const std::byte& byte : bytes) {
        EXPECT_TRUE(accepted.empty());
        say(socket, &byte, 1);
        loop.wait(5ms);
    }
    EXPECT_TRUE(comes_true([&] { return accepted.size() == 1; }));
}

TEST_F(TcpListenerTest, ClosesThoseWithAnotherTokenOrGarbageAndWarnsOnce) {
    Token wrong = token;
    wrong.back() ^= std::byte{1};
    const Descriptor stranger = call({.rank = 1, .lane = 0}, wrong);
    const Descriptor browser = call();
    say(browser, "GET / HTTP/1.1\r\nHost: mastic\r\nAccept: */*\r\n\r\n", 44);
    EXPECT_TRUE(comes_true([&] { return is_closed(stranger) && is_closed(browser); }));
    call().close();
    const Descriptor good = call({.rank = 2, .lane = 0}, token);
    EXPECT_TRUE(comes_true([&] { return accepted.size() == 1; }));
    EXPECT_EQ(accepted[0].rank, 2);
    EXPECT_THAT(log.text(), testing::HasSubstr("127.0.0.1"));
    EXPECT_EQ(lines_logged(), 1);
}

TEST_F(ImpatientListenerTest, ClosesTheSilentAndLetsNoMoreThanItsLimitIn) {
    std::vector<Descriptor> silent;
    for (int i = 0; i < 8; ++i) {
        silent.push_back(call());
    }
    const Descriptor good = call({.rank = 2, .lane = 0}, token);
    loop.wait(0ns);
    loop.wait(0ns);
    EXPECT_TRUE(accepted.empty());  // it waits behind the silent ones
    EXPECT_TRUE(comes_true([&] { return accepted.size() == 1; }));
    EXPECT_TRUE(comes_true([&] { return std::ranges::all_of(silent, is_closed); }));
    EXPECT_EQ(lines_logged(), 1);
}

}  // namespace
}  // namespace mastic::comm
