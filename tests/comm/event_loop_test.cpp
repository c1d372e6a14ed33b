#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mastic/comm/event_loop.hpp>

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;

constexpr auto long_time = 20s;  // a wait of this length means that something is broken

struct SocketPair {
    SocketPair() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
        left = Descriptor(ends[0]);
        right = Descriptor(ends[1]);
    }
    Descriptor left;
    Descriptor right;
};

struct Recorder : EventHandler {
    void ready(bool readable, bool writable) override {
        ++calls;
        saw_readable = saw_readable || readable;
        saw_writable = saw_writable || writable;
        if (then) {
            then();
        }
    }
    int calls = 0;
    bool saw_readable = false;
    bool saw_writable = false;
    std::function<void()> then;
};

// True if the wait ended before its bound.
bool ends_early(EventLoop& loop) {
    const auto begin = Clock::now();
    loop.wait(long_time);
    return Clock::now() - begin < long_time;
}

// True if nothing ends a short wait.
bool waits(EventLoop& loop) {
    const auto begin = Clock::now();
    loop.wait(2ms);
    return Clock::now() - begin >= 2ms;
}

TEST(EventLoop, TellsOnceThatASocketIsReadableOrWritable) {
    EventLoop loop;
    SocketPair pair;
    Recorder handler;
    loop.add(pair.left.get(), handler);
    loop.wait(long_time);
    EXPECT_TRUE(handler.saw_writable);
    EXPECT_FALSE(handler.saw_readable);
    loop.wait(0ns);
    EXPECT_EQ(handler.calls, 1);

    ASSERT_EQ(::write(pair.right.get(), "x", 1), 1);
    loop.wait(long_time);
    EXPECT_TRUE(handler.saw_readable);
    EXPECT_EQ(handler.calls, 2);
    EXPECT_TRUE(waits(loop));  // the byte is still there, but was announced
    EXPECT_EQ(handler.calls, 2);
    loop.remove(pair.left.get());
}

TEST(EventLoop, TheEndOfAStreamIsReadable) {
    EventLoop loop;
    SocketPair pair;
    Recorder handler;
    loop.add(pair.left.get(), handler);
    loop.wait(0ns);
    pair.right.close();
    EXPECT_TRUE(ends_early(loop));
    EXPECT_TRUE(handler.saw_readable);
    loop.remove(pair.left.get());
}

TEST(EventLoop, WakeFromAnotherThreadEndsAWait) {
    EventLoop loop;
    std::thread other([&loop] {
        std::this_thread::sleep_for(10ms);
        loop.wake();
    });
    EXPECT_TRUE(ends_early(loop));
    other.join();
}

TEST(EventLoop, WakesBeforeAWaitCountOnce) {
    EventLoop loop;
    loop.wake();
    loop.wake();
    EXPECT_TRUE(ends_early(loop));
    EXPECT_TRUE(waits(loop));

    loop.wake();
    loop.wait_for_wake(long_time);
    const auto begin = Clock::now();
    loop.wait_for_wake(2ms);
    EXPECT_GE(Clock::now() - begin, 2ms);
}

TEST(EventLoop, WaitForWakeLeavesSocketsAlone) {
    EventLoop loop;
    SocketPair pair;
    Recorder handler;
    loop.add(pair.left.get(), handler);
    const auto begin = Clock::now();
    loop.wait_for_wake(2ms);
    EXPECT_GE(Clock::now() - begin, 2ms);
    EXPECT_EQ(handler.calls, 0);
    loop.wait(0ns);
    EXPECT_EQ(handler.calls, 1);
    loop.remove(pair.left.get());
}

// Every wake() must end a wait that begins after it or is under way, whatever the threads do meanwhile.
TEST(EventLoop, NoWakeIsLost) {
    EventLoop loop;
    constexpr int rounds = 20000;
    std::atomic<int> sent{0};
    std::atomic<int> seen{0};
    std::thread other([&] {
        for (int i = 1; i <= rounds; ++i) {
            sent = i;
            loop.wake();
            while (i % 64 == 0 && seen.load() < i) {
                std::this_thread::yield();
            }
        }
    });
    bool stuck = false;
    while (seen.load() < rounds && !stuck) {
        const int before = sent.load();
        stuck = !ends_early(loop) && before != sent.load();
        seen = sent.load();
    }
    EXPECT_FALSE(stuck);
    other.join();
}

EventLoop* loop_of_signal = nullptr;

TEST(EventLoop, WakeWorksInASignalHandler) {
    EventLoop loop;
    loop_of_signal = &loop;
    const auto before = std::signal(SIGUSR1, [](int) { loop_of_signal->wake(); });
    ASSERT_EQ(std::raise(SIGUSR1), 0);
    EXPECT_TRUE(ends_early(loop));
    std::signal(SIGUSR1, before);
}

TEST(EventLoop, AHandlerMayRemoveTheOthersThatAreDue) {
    EventLoop loop;
    std::array<SocketPair, 8> pairs;
    std::array<std::unique_ptr<Recorder>, 8> handlers;
    int told = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        handlers[i] = std::make_unique<Recorder>();
        handlers[i]->then = [&, i] {
            ++told;
            for (std::size_t other = 0; other < pairs.size(); ++other) {
                if (other != i && handlers[other]) {
                    loop.remove(pairs[other].left.get());
                    handlers[other].reset();
                }
            }
        };
        loop.add(pairs[i].left.get(), *handlers[i]);
    }
    loop.wait(long_time);
    loop.wait(0ns);
    EXPECT_EQ(told, 1);
}

TEST(EventLoop, ANewSocketWithAnOldNumberHearsNothingOfTheOldOne) {
    EventLoop loop;
    std::array<SocketPair, 2> pairs;
    std::array<Recorder, 2> handlers;
    SocketPair replacement;
    Recorder newcomer;
    bool replaced = false;
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_EQ(::write(pairs[i].right.get(), "x", 1), 1);
        handlers[i].then = [&, i] {
            // The other one, which is due in the same round too, makes room for a quiet socket of the same number.
            if (replaced) {
                return;
            }
            replaced = true;
            const int number = pairs[1 - i].left.get();
            loop.remove(number);
            ASSERT_EQ(::dup3(replacement.left.get(), number, O_CLOEXEC), number);
            loop.add(number, newcomer);
        };
        loop.add(pairs[i].left.get(), handlers[i]);
    }
    loop.wait(long_time);
    loop.wait(0ns);
    EXPECT_EQ(handlers[0].calls + handlers[1].calls, 1);
    EXPECT_TRUE(newcomer.saw_writable);
    EXPECT_FALSE(newcomer.saw_readable);
}

}  // namespace
}  // namespace mastic::comm
