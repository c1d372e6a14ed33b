// Every algorithm over every transport, against exactly known results, on as many ranks as the program was started with.
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/comm/shm_method.hpp>
#include <mastic/comm/together.hpp>

#include "comm/mpi/exact_values.hpp"
#include "comm/mpi/session_fixture.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::expect_every_type_exact;
using test::session;

struct Way {
    TransportKind transport;
    std::string algorithm;
};

std::vector<Way> all_ways() {
    std::vector<Way> ways;
    for (const TransportKind transport : {TransportKind::mpi, TransportKind::shm, TransportKind::tcp}) {
        for (const PlanAlgorithm& algorithm : plan_algorithms()) {
            if (algorithm.collective == Collective::allreduce) {
                ways.push_back({transport, algorithm.name});
            }
        }
    }
    for (const ShmMethodName& method : shm_methods()) {
        if (method.method != ShmMethod::direct && method.method != ShmMethod::one_shot) {  // not for these buffers
            ways.push_back({TransportKind::shm, method.name});
        }
    }
    return ways;
}

class Ways : public testing::TestWithParam<Way> {
  protected:
    std::unique_ptr<Group> make_group(Wire wire = Wire::exact) const {
        GroupOptions options{.transport = GetParam().transport, .algorithm = GetParam().algorithm, .wire = wire};
        options.segment = Bytes{4096};
        return session().make_group(options);
    }
};

TEST_P(Ways, AllreduceIsExactForEveryTypeAndOperation) {
    const auto group = make_group();
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::average}) {
        for (const std::size_t count : {0u, 1u, 3u, 1000u}) {
            expect_every_type_exact(*group, op, count);
        }
    }
    expect_every_type_exact(*group, ReduceOp::sum, 100'003);
}

TEST_P(Ways, ManyOperationsInFlightDoNotMix) {
    const auto group = make_group();
    constexpr int operations = 40;
    std::mt19937 random(11);
    std::vector<std::vector<std::int64_t>> buffers;
    std::vector<Request> requests;
    for (int i = 0; i < operations; ++i) {
        buffers.emplace_back(random() % 20'000, i + group->rank());
    }
    for (int i = 0; i < operations; ++i) {
        requests.push_back(
            group->start_allreduce(view_of(std::span(buffers[static_cast<std::size_t>(i)])), ReduceOp::sum, {i % 3}));
    }
    const int ranks = group->size();
    for (int i = operations - 1; i >= 0; --i) {
        const auto index = static_cast<std::size_t>(i);
        requests[index].wait();
        const std::int64_t sum = std::int64_t(ranks) * i + ranks * (ranks - 1) / 2;
        ASSERT_EQ(buffers[index], std::vector<std::int64_t>(buffers[index].size(), sum)) << "operation " << i;
    }
}

// A caller that drives its operation itself meets peers whose progress thread does.
TEST_P(Ways, BlockingAndNonBlockingCallsMeet) {
    const auto group = make_group();
    const int ranks = group->size();
    for (int round = 0; round < 100; ++round) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(round * 37), 1);
        if ((round + group->rank()) % 2 == 0) {
            group->allreduce(view_of(std::span(values)), ReduceOp::sum);
        } else {
            group->start_allreduce(view_of(std::span(values)), ReduceOp::sum).wait();
        }
        ASSERT_EQ(values, std::vector<std::int32_t>(values.size(), ranks)) << "round " << round;
    }
}

TEST_P(Ways, AHalfWireGivesTheSameBitsOnAllRanks) {
    const auto group = make_group(Wire::bfloat16);
    std::vector<float> values(30'011);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 1009) / 7 + static_cast<float>(group->rank());
    }
    group->allreduce(view_of(std::span(values)), ReduceOp::sum);
    std::vector<float> first = values;
    group->broadcast(view_of(std::span(first)), 0);
    EXPECT_EQ(std::memcmp(first.data(), values.data(), values.size() * sizeof(float)), 0);
}

std::string name_of(const testing::TestParamInfo<Way>& info) {
    std::string name = std::string(to_string(info.param.transport)) + "_" + info.param.algorithm;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, Ways, testing::ValuesIn(all_ways()), name_of);

class Transports : public testing::TestWithParam<TransportKind> {};

TEST_P(Transports, BroadcastFromEveryRoot) {
    const auto group = session().make_group({.transport = GetParam()});
    for (const std::size_t count : {0u, 1u, 100u, 50'001u, 300'000u}) {
        for (int root = 0; root < group->size(); ++root) {
            std::vector<std::int32_t> values(count, group->rank() == root ? 77 + root : 0);
            group->broadcast(view_of(std::span(values)), root);
            ASSERT_EQ(values, std::vector<std::int32_t>(count, 77 + root)) << count << " from " << root;
        }
    }
}

TEST_P(Transports, ReduceScatterGivesEachRankItsPart) {
    const auto group = session().make_group({.transport = GetParam()});
    const auto ranks = static_cast<std::size_t>(group->size());
    for (const std::size_t part : {0u, 1u, 3u, 1000u, 77'777u}) {
        std::vector<std::int64_t> send(part * ranks);
        for (std::size_t i = 0; i < send.size(); ++i) {
            send[i] = static_cast<std::int64_t>(i) * (group->rank() + 1);
        }
        const auto before = send;
        std::vector<std::int64_t> receive(part, -1);
        group->reduce_scatter(view_of(std::span(send)), view_of(std::span(receive)), ReduceOp::sum);
        EXPECT_EQ(send, before) << "the contribution changed";
        const auto factor = static_cast<std::int64_t>(ranks * (ranks + 1) / 2);
        for (std::size_t i = 0; i < part; ++i) {
            ASSERT_EQ(receive[i], factor * static_cast<std::int64_t>(part * static_cast<std::size_t>(group->rank()) + i));
        }
    }
}

TEST_P(Transports, AllgatherOrdersByRank) {
    const auto group = session().make_group({.transport = GetParam()});
    const auto ranks = static_cast<std::size_t>(group->size());
    for (const std::size_t part : {0u, 1u, 3u, 1000u, 77'777u}) {
        std::vector<std::int32_t> send(part, group->rank() + 5);
        std::vector<std::int32_t> receive(part * ranks, -1);
        group->allgather(view_of(std::span(send)), view_of(std::span(receive)));
        for (std::size_t i = 0; i < receive.size(); ++i) {
            ASSERT_EQ(receive[i], static_cast<std::int32_t>(i / part) + 5);
        }
    }
}

TEST_P(Transports, SeveralGroupsAtOnce) {
    const auto whole = session().make_group({.transport = GetParam()});
    const auto half = whole->split(whole->rank() % 2, whole->rank());
    std::vector<std::int64_t> in_whole(50'000, 1);
    std::vector<std::int64_t> in_half(50'000, 1);
    for (int round = 0; round < 5; ++round) {
        const Request first = whole->start_allreduce(view_of(std::span(in_whole)), ReduceOp::max);
        const Request second = half->start_allreduce(view_of(std::span(in_half)), ReduceOp::sum);
        second.wait();
        first.wait();
    }
    std::int64_t expected = 1;
    for (int round = 0; round < 5; ++round) {
        expected *= half->size();
    }
    EXPECT_EQ(in_half, std::vector<std::int64_t>(50'000, expected));
}

// The library's memory and the caller's, on all ranks or only some.
TEST_P(Transports, ReduceAllocatedAndPrivateMemory) {
    const auto group = session().make_group({.transport = GetParam()});
    for (const std::size_t count : {1u, 1000u, 300'000u}) {
        const auto memory = group->allocate(count * sizeof(float));
        std::vector<float> own(count);
        for (const bool allocated : {true, false}) {
            for (const bool mixed : {true, false}) {
                const bool use = mixed ? group->rank() % 2 == 0 : allocated;
                float* values = use ? static_cast<float*>(memory.get()) : own.data();
                std::fill_n(values, count, static_cast<float>(group->rank() + 1));
                group->allreduce({values, count, DataType::float32}, ReduceOp::sum);
                const auto sum = static_cast<float>(group->size() * (group->size() + 1) / 2);
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(values[i], sum) << count << (use ? " allocated" : " private");
                }
            }
        }
    }
}

TEST_P(Transports, NotInPlaceKeepsTheContribution) {
    const auto group = session().make_group({.transport = GetParam()});
    const std::vector<std::int32_t> send(1000, group->rank() + 1);
    std::vector<std::int32_t> receive(1000);
    const std::vector<std::int32_t> sum(1000, group->size() * (group->size() + 1) / 2);
    group->allreduce(view_of(std::span(send)), view_of(std::span(receive)), ReduceOp::sum);
    EXPECT_EQ(receive, sum);
    receive.assign(1000, 0);
    group->start_allreduce(view_of(std::span(send)), view_of(std::span(receive)), ReduceOp::sum).wait();
    EXPECT_EQ(receive, sum);
    EXPECT_EQ(send, std::vector<std::int32_t>(1000, group->rank() + 1));
    test::expect_error(ExitCode::usage, "cannot fill", [&] {
        group->allreduce(view_of(std::span(send)), view_of(std::span(receive).first(999)), ReduceOp::sum);
    });
}

TEST_P(Transports, DescribeThemselves) {
    const auto group = session().make_group({.transport = GetParam()});
    const std::map<TransportKind, std::string> words{{TransportKind::automatic, group->size() > 1 ? "shared memory" : ""},
                                                     {TransportKind::native, "native-pipelined"},
                                                     {TransportKind::mpi, group->size() > 1 ? "MPI messages" : ""},
                                                     {TransportKind::shm, group->size() > 1 ? "shared memory" : ""},
                                                     {TransportKind::tcp, group->size() > 1 ? "TCP on" : ""}};
    EXPECT_NE(group->description().find(words.at(GetParam())), std::string::npos) << group->description();
}

std::string transport_name(const testing::TestParamInfo<TransportKind>& info) {
    return to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, Transports,
                         testing::Values(TransportKind::automatic, TransportKind::native, TransportKind::mpi,
                                         TransportKind::shm, TransportKind::tcp),
                         transport_name);

TEST(Tcp, ANetworkThatNobodyHasIsAnErrorOnAllRanks) {
    if (session().size() == 1) {
        GTEST_SKIP() << "one rank needs no network";
    }
    test::expect_error(ExitCode::environment, "10.255.255.0/24", [] {
        session().make_group({.transport = TransportKind::tcp, .network = "10.255.255.0/24"});
    });
}

}  // namespace
}  // namespace mastic::comm
