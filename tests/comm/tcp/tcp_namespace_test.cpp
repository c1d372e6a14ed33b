// Two hosts that are network namespaces of this one. Needs root and iproute2.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <mastic/comm/tcp/host_addresses.hpp>
#include <mastic/comm/tcp/tcp_transport.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>

#include "forked_ranks.hpp"

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;

bool run(const std::string& command) {
    return std::system((command + " 2>/dev/null").c_str()) == 0;
}

// 10.79.0.1 and 10.79.0.2, connected by a cable.
struct TwoHosts {
    TwoHosts() {
        const std::string a = name(0);
        const std::string b = name(1);
        usable = ::geteuid() == 0 && run("ip netns add " + a) && run("ip netns add " + b) &&
                 run("ip link add cable netns " + a + " type veth peer name cable netns " + b) &&
                 run("ip -n " + a + " addr add 10.79.0.1/24 dev cable") &&
                 run("ip -n " + b + " addr add 10.79.0.2/24 dev cable") &&
                 run("ip -n " + a + " link set cable up") && run("ip -n " + b + " link set cable up");
    }
    ~TwoHosts() {
        for (const int rank : {0, 1}) {
            run("ip netns del " + name(rank));
        }
    }
    std::string name(int rank) const {
        return "mastic-test-" + std::to_string(owner) + (rank == 0 ? "-a" : "-b");
    }
    // Moves this process into the host.
    void enter(int rank) const {
        const Descriptor file(::open(("/run/netns/" + name(rank)).c_str(), O_RDONLY | O_CLOEXEC));
        ASSERT_EQ(::setns(file.get(), CLONE_NEWNET), 0);
        // The kernel takes a moment to find the other end of the cable; an alarm bounds this.
        while (find_host_addresses().addresses.empty()) {
            std::this_thread::sleep_for(1ms);
        }
    }
    const pid_t owner = ::getpid();
    bool usable = false;
};

void move(EventLoop& loop, Stream& stream, bool sends) {
    std::byte byte{7};
    while ((sends ? stream.send(&byte, 1) : stream.receive(&byte, 1)) == 0) {
        loop.wait(10s);
    }
}

class TcpNamespaces : public testing::Test {
  protected:
    void SetUp() override {
        if (!hosts.usable) {
            GTEST_SKIP() << "needs root and network namespaces";
        }
    }

    // Rank 1 vanishes without a word after one byte each way, and rank 0 gets the error of `wait`.
    void expect_notice(const std::function<void(Stream&)>& wait) {
        test::expect_success(test::run_ranks(2, [&](Group& exchange) {
            hosts.enter(exchange.rank());
            EventLoop loop;
            const auto transport = TcpTransport::create(exchange, loop, {.silence = Seconds(2)});
            EXPECT_EQ(transport->description(), "TCP on 10.79.0.0/24 (cable)");
            Stream& stream = transport->stream(1 - exchange.rank(), 0);
            move(loop, stream, true);
            move(loop, stream, false);
            if (exchange.rank() == 1) {
                EXPECT_TRUE(run("ip addr flush dev cable"));
                exchange.barrier();
                exchange.barrier();
                return;
            }
            exchange.barrier();
            std::string message;
            try {
                for (const auto begin = Clock::now(); Clock::now() - begin < 20s;) {
                    wait(stream);
                    loop.wait(100ms);
                }
            } catch (const Error& error) {
                message = error.what();
            }
            EXPECT_THAT(message, testing::HasSubstr("10.79.0.2) does not answer any more"));
            exchange.barrier();
        }));
    }

    TwoHosts hosts;
};

TEST_F(TcpNamespaces, AHostThatVanishesIsNoticedByAReceiver) {
    expect_notice([](Stream& stream) {
        std::byte byte{};
        stream.receive(&byte, 1);
    });
}

TEST_F(TcpNamespaces, AHostThatVanishesIsNoticedByASender) {
    expect_notice([](Stream& stream) {
        const std::vector<std::byte> data(100000);
        stream.send(data.data(), data.size());
    });
}

}  // namespace
}  // namespace mastic::comm
