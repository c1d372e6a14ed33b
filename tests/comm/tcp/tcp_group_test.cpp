// Groups over TCP without MPI, in forked processes: their results, their loss of ranks, their end.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/collective/tcp_group.hpp>
#include <mastic/comm/tcp/hello.hpp>
#include <mastic/core/error.hpp>

#include "comm/device/fake_device.hpp"
#include "forked_ranks.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;
using test::expect_success;
using test::run_ranks;
using testing::ElementsAre;
using testing::HasSubstr;

const SocketAddress loopback = SocketAddress::parse("127.0.0.1").value();

// The exchange stands for whatever makes members known to one another.
std::unique_ptr<TcpGroup> open_group(Group& exchange, const GroupOptions& options = {}) {
    ListeningSocket listener(loopback);
    TcpTable table{.rank = exchange.rank(), .description = "test"};
    for (const std::string& port : exchange.allgather_strings(std::to_string(listener.address().port()))) {
        table.peers.push_back({.rank = static_cast<int>(table.peers.size()),
                               .host = "localhost",
                               .address = loopback.with_port(static_cast<std::uint16_t>(std::stoi(port)))});
    }
    return TcpGroup::open(std::move(table), std::move(listener), options, {.linger = Seconds(0)});
}

std::int64_t sum_of_ranks(int ranks) {
    return std::int64_t{ranks} * (ranks - 1) / 2;
}

std::size_t threads_of_this_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), std::filesystem::directory_iterator{}));
}

void expect_sum(Group& group, std::size_t count) {
    std::vector<std::int64_t> values(count);
    std::iota(values.begin(), values.end(), group.rank());
    group.allreduce(view_of(std::span(values)), ReduceOp::sum);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], sum_of_ranks(group.size()) + static_cast<std::int64_t>(i) * group.size()) << i;
    }
}

// What a member holds on a device that is made of host memory.
struct OnDevice {
    explicit OnDevice(int rank)
        : device(std::make_shared<test::FakeDevice>(
              test::FakeDeviceOptions{.seed = static_cast<std::uint64_t>(rank) + 1})),
          values(200'000, rank) {}
    GroupOptions options() const { return {.device = device, .staging = {.chunk = Bytes{64u << 10}}}; }
    BufferView view() {
        BufferView buffer = view_of(std::span(values));
        buffer.memory = MemoryKind::device;
        return buffer;
    }

    std::shared_ptr<test::FakeDevice> device;
    std::vector<std::int32_t> values;
};

class TcpGroups : public testing::TestWithParam<int> {};

TEST_P(TcpGroups, BuffersOnADevicePassThroughTheHost) {
    expect_success(run_ranks(GetParam(), [](Group& exchange) {
        OnDevice mine(exchange.rank());
        const auto group = open_group(exchange, mine.options());
        group->allreduce(mine.view(), ReduceOp::sum);
        EXPECT_EQ(std::ranges::count(mine.values, sum_of_ranks(group->size())), std::ssize(mine.values));
        mine.values.assign(mine.values.size(), group->rank());
        group->broadcast(mine.view(), group->size() - 1);
        EXPECT_EQ(std::ranges::count(mine.values, group->size() - 1), std::ssize(mine.values));
        EXPECT_EQ(mine.device->in_flight(), 0);
        group->barrier();  // nobody leaves before all have everything
    }));
}

// A rank leaves in the middle of it: an error for the others, and nothing goes on behind their backs.
TEST(TcpGroupDevice, AfterALossNoCopyIsInFlight) {
    expect_success(run_ranks(3, [](Group& exchange) {
        OnDevice mine(exchange.rank());
        auto group = open_group(exchange, mine.options());
        group->barrier();
        if (group->rank() == 2) {
            group.reset();
            return;
        }
        test::expect_error(ExitCode::collective, "", [&] { group->allreduce(mine.view(), ReduceOp::sum); });
        group.reset();
        EXPECT_EQ(mine.device->in_flight(), 0);
        EXPECT_EQ(mine.device->pins(), 0);
    }));
}

TEST_P(TcpGroups, EveryOperationGivesItsResult) {
    expect_success(run_ranks(GetParam(), [](Group& exchange) {
        const auto group = open_group(exchange);
        const int ranks = group->size();
        for (const std::size_t count : {0u, 1u, 1000u, 300000u}) {
            expect_sum(*group, count);
        }
        std::vector<float> values(1000, static_cast<float>(group->rank()));
        const Request waiting =
            group->start_allreduce(view_of(std::span(values)), ReduceOp::average, {.name = "a"});
        std::vector<std::int32_t> word{group->rank() == ranks - 1 ? 17 : 0};
        group->broadcast(view_of(std::span(word)), ranks - 1);
        EXPECT_EQ(word[0], 17);
        waiting.wait();
        EXPECT_EQ(values[999], static_cast<float>(ranks - 1) / 2);
        const std::vector<std::string> strings =
            group->allgather_strings(std::string(3, char('a' + group->rank())));
        EXPECT_EQ(strings.back(), std::string(3, char('a' + ranks - 1)));
        std::vector<std::int64_t> parts(static_cast<std::size_t>(2 * ranks), group->rank());
        std::vector<std::int64_t> part(2);
        group->reduce_scatter(view_of(std::span(parts)), view_of(std::span(part)), ReduceOp::sum);
        EXPECT_THAT(part, ElementsAre(sum_of_ranks(ranks), sum_of_ranks(ranks)));
        group->barrier();
        const auto memory = group->allocate(100);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
        EXPECT_THAT(group->description(), HasSubstr(std::to_string(ranks) + " rank"));
        exchange.barrier();
    }));
}

INSTANTIATE_TEST_SUITE_P(Ranks, TcpGroups, testing::Values(1, 2, 3, 4));

TEST(TcpGroup, PartsOfASplitReduceAmongThemselves) {
    expect_success(run_ranks(4, [](Group& exchange) {
        const auto group = open_group(exchange);
        // Ranks 1 and 3, in reverse order; rank 0 with 2.
        const auto part = group->split(group->rank() % 2, -group->rank());
        EXPECT_EQ(part->size(), 2);
        EXPECT_EQ(part->rank(), group->rank() < 2 ? 1 : 0);
        expect_sum(*part, 1000);
        EXPECT_EQ(group->split(group->rank() == 0 ? 0 : -1, 0) == nullptr, group->rank() != 0);
        expect_sum(*group, 10);
        exchange.barrier();
    }));
}

TEST(TcpGroup, ANativeAlgorithmIsRefused) {
    const auto open = [](const std::string& algorithm) {
        ListeningSocket listener(loopback);
        TcpTable table{.peers = {{.rank = 0, .host = "localhost", .address = listener.address()}}};
        return TcpGroup::open(std::move(table), std::move(listener), {.algorithm = algorithm});
    };
    EXPECT_THROW(open("native-pipelined"), Error);
    const auto group = open("ring");
    const Choice native;
    std::int64_t word = 1;
    EXPECT_THROW(group->allreduce(view_of(std::span(&word, 1)), ReduceOp::sum, {.choice = &native}), Error);
}

TEST(TcpGroup, AKilledRankIsNamedInAFormThatProgramsCanUse) {
    const auto statuses = run_ranks(3, [](Group& exchange) {
        const auto group = open_group(exchange);
        expect_sum(*group, 1000);
        exchange.barrier();
        if (group->rank() == 1) {
            std::raise(SIGKILL);
        }
        std::vector<float> values(100000, 1);
        const Request first = group->start_allreduce(view_of(std::span(values)), ReduceOp::sum);
        std::vector<float> others(100000, 1);
        const Request second = group->start_allreduce(view_of(std::span(others)), ReduceOp::sum);
        try {
            first.wait();
            ADD_FAILURE() << "no error";
        } catch (const LostRankError& error) {
            EXPECT_EQ(error.code(), ExitCode::collective);
            EXPECT_EQ(error.rank(), group->lost_ranks().front());
        }
        EXPECT_THROW(second.wait(), Error);
        EXPECT_THAT(group->lost_ranks(), testing::Contains(1));
        exchange.barrier();  // of 0 and 2: rank 1's link is closed, which ends the barrier at rank 0
    });
    EXPECT_TRUE(WIFSIGNALED(statuses[1]));
}

// Whatever is in flight, also an operation that the calling thread drives itself.
TEST(TcpGroup, AbandonedOperationsFailAndTheNextGroupWorks) {
    expect_success(run_ranks(3, [](Group& exchange) {
        const std::size_t threads = threads_of_this_process();
        for (int generation = 0; generation < 5; ++generation) {
            auto group = open_group(exchange);
            expect_sum(*group, 1000);
            exchange.barrier();
            if (group->rank() != 1) {  // rank 1 never takes part
                std::vector<float> values(1 << 20, 1);
                std::optional<Request> started;
                if (generation % 2 == 0) {
                    started = group->start_allreduce(view_of(std::span(values)), ReduceOp::sum);
                }
                std::thread other([&] {
                    std::this_thread::sleep_for(50ms);
                    group->abandon("generation 7 has begun");
                });
                try {
                    started ? started->wait() : group->allreduce(view_of(std::span(values)), ReduceOp::sum);
                    ADD_FAILURE() << "no error";
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ExitCode::collective);
                    EXPECT_THAT(error.what(), HasSubstr("generation 7 has begun"));
                }
                other.join();
                EXPECT_THROW(group->barrier(), Error);
            }
            exchange.barrier();
            group.reset();
            EXPECT_EQ(threads_of_this_process(), threads);
            exchange.barrier();
        }
        expect_sum(*open_group(exchange), 1000);
        exchange.barrier();
    }));
}

}  // namespace
}  // namespace mastic::comm
