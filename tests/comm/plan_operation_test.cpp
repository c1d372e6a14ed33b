// Plans run by PlanOperation, all ranks in one process, over streams that take and give what a seed says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/comm/plan_operation.hpp>

namespace mastic::comm {
namespace {

using Random = std::mt19937_64;

// One direction between two ranks. What was sent is read from the sender's memory as late as possible: a sender that
// changes it before it is released is found out.
class Pipe {
  public:
    Pipe(Random& random, std::size_t capacity) : random_(random), capacity_(capacity) {}

    std::size_t take(const std::byte* data, std::size_t bytes) {
        const std::size_t taken = some_of(std::min(bytes, capacity_ - std::min(capacity_, held_.size())));
        for (std::size_t i = 0; i < taken; ++i) {
            held_.push_back(data + i);
        }
        return taken;
    }
    std::size_t give(std::byte* into, std::size_t bytes) {
        const std::size_t given = some_of(std::min(bytes, held_.size()));
        for (std::size_t i = 0; i < given; ++i) {
            into[i] = *held_.front();
            held_.pop_front();
        }
        released_ += given;
        return given;
    }
    std::uint64_t released() const { return released_; }
    bool empty() const { return held_.empty(); }

  private:
    std::size_t some_of(std::size_t most) { return most == 0 ? 0 : random_() % (most + 1); }

    Random& random_;
    std::size_t capacity_;
    std::deque<const std::byte*> held_;
    std::uint64_t released_ = 0;
};

class Network {
  public:
    Network(Random& random, std::size_t capacity) : random_(random), capacity_(capacity) {}
    Pipe& pipe(int from, int to) {
        return pipes_.try_emplace({from, to}, random_, capacity_).first->second;
    }
    bool empty() const {
        return std::ranges::all_of(pipes_, [](const auto& entry) { return entry.second.empty(); });
    }

  private:
    Random& random_;
    std::size_t capacity_;
    std::map<std::pair<int, int>, Pipe> pipes_;
};

class NetworkStream : public Stream {
  public:
    NetworkStream(Pipe& out, Pipe& in) : out_(out), in_(in) {}
    std::size_t send(const std::byte* data, std::size_t bytes) override { return out_.take(data, bytes); }
    std::uint64_t released() override { return out_.released(); }
    std::size_t receive(std::byte* into, std::size_t bytes) override { return in_.give(into, bytes); }

  private:
    Pipe& out_;
    Pipe& in_;
};

class NetworkTransport : public Transport {
  public:
    NetworkTransport(Network& network, int rank) : network_(network), rank_(rank) {}
    Stream& stream(int peer, int) override {
        return streams_.try_emplace(peer, network_.pipe(rank_, peer), network_.pipe(peer, rank_)).first->second;
    }
    bool event_driven(int) const override { return false; }
    std::string description() const override { return "test"; }

  private:
    Network& network_;
    int rank_;
    std::map<int, NetworkStream> streams_;
};

using Buffers = std::vector<std::vector<float>>;  // by rank

struct Setting {
    const PlanAlgorithm* algorithm;
    int ranks;
    int root = 0;
    PlanOperationOptions options{};
    std::size_t capacity = 100;  // bytes that a stream holds
};

// Runs the plans of all ranks to their end, twice over the same streams.
void run_all(const Setting& setting, Buffers& buffers, Random& random) {
    Network network(random, setting.capacity);
    std::vector<NetworkTransport> transports;
    std::vector<std::unique_ptr<Operation>> operations;
    for (int rank = 0; rank < setting.ranks; ++rank) {
        transports.emplace_back(network, rank);
    }
    for (int rank = 0; rank < setting.ranks; ++rank) {
        auto& buffer = buffers[static_cast<std::size_t>(rank)];
        operations.push_back(make_plan_operation(
            std::make_shared<PlanSchedule>(setting.algorithm->make(rank, setting.ranks, setting.root)),
            transports[static_cast<std::size_t>(rank)], view_of(std::span(buffer)), ReduceOp::sum, setting.options));
        operations.back()->start();
    }
    std::vector<int> unfinished(static_cast<std::size_t>(setting.ranks));
    std::iota(unfinished.begin(), unfinished.end(), 0);
    constexpr int patience = 20'000'000;
    for (int steps = 0; !unfinished.empty(); ++steps) {
        ASSERT_LT(steps, patience) << "deadlock";
        const std::size_t pick = random() % unfinished.size();
        if (operations[static_cast<std::size_t>(unfinished[pick])]->step() == Step::complete) {
            unfinished.erase(unfinished.begin() + static_cast<std::ptrdiff_t>(pick));
        }
    }
    EXPECT_TRUE(network.empty());
}

// Whole numbers below 2^24, so that sums are exact in any order.
Buffers contributions(int ranks, std::size_t count, Random& random) {
    Buffers buffers(static_cast<std::size_t>(ranks), std::vector<float>(count));
    for (auto& buffer : buffers) {
        for (float& value : buffer) {
            value = static_cast<float>(random() % 1000);
        }
    }
    return buffers;
}

std::vector<float> sum_of(const Buffers& buffers) {
    std::vector<float> sum(buffers.front().size());
    for (const auto& buffer : buffers) {
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += buffer[i];
        }
    }
    return sum;
}

class PlanOperations : public testing::TestWithParam<const PlanAlgorithm*> {
  protected:
    Random random{7};
};

TEST_P(PlanOperations, GiveTheSerialResultOverAnyStream) {
    const PlanAlgorithm* algorithm = GetParam();
    for (const int ranks : {1, 2, 3, 4, 5, 8}) {
        for (const std::size_t parts : {0u, 1u, 3u, 70u, 333u}) {
            const std::size_t count = parts * static_cast<std::size_t>(ranks);
            const bool equal_parts = algorithm->collective == Collective::reduce_scatter ||
                                     algorithm->collective == Collective::allgather;
            Setting setting{algorithm, ranks, static_cast<int>(parts) % ranks, {.segment = Bytes{512}}, 1 + parts};
            setting.options.equal_parts = equal_parts;
            Buffers buffers = contributions(ranks, count, random);
            const Buffers before = buffers;
            const std::vector<float> sum = sum_of(before);
            ASSERT_NO_FATAL_FAILURE(run_all(setting, buffers, random)) << ranks << " ranks, " << count;
            for (std::size_t rank = 0; rank < buffers.size(); ++rank) {
                for (std::size_t i = 0; i < count; ++i) {
                    const std::size_t part = parts == 0 ? 0 : i / parts;
                    float expected = sum[i];
                    if (algorithm->collective == Collective::broadcast) {
                        expected = before[static_cast<std::size_t>(setting.root)][i];
                    } else if (algorithm->collective == Collective::allgather) {
                        expected = before[part][i];
                    } else if (algorithm->collective == Collective::reduce_scatter && part != rank) {
                        continue;
                    }
                    ASSERT_EQ(buffers[rank][i], expected)
                        << ranks << " ranks, " << count << " elements, rank " << rank << ", element " << i;
                }
            }
        }
    }
}

class PlanAllreduces : public PlanOperations {};

TEST_P(PlanAllreduces, AgreeToTheBitOverAHalfWire) {
    const PlanAlgorithm* algorithm = GetParam();
    for (const int ranks : {2, 3, 4, 7}) {
        Buffers buffers = contributions(ranks, 777, random);
        for (auto& buffer : buffers) {
            for (float& value : buffer) {
                value = value / 37 - 11;
            }
        }
        const std::vector<float> sum = sum_of(buffers);
        Setting setting{algorithm, ranks, 0, {.segment = Bytes{600}, .wire = Wire::bfloat16}, 333};
        ASSERT_NO_FATAL_FAILURE(run_all(setting, buffers, random));
        for (std::size_t rank = 0; rank < buffers.size(); ++rank) {
            ASSERT_EQ(std::memcmp(buffers[rank].data(), buffers[0].data(), 777 * sizeof(float)), 0)
                << ranks << " ranks: rank " << rank << " differs from rank 0";
        }
        // Contributions are at most 17 in size; each partial sum is rounded by at most 2^-9 of it.
        const float bound = static_cast<float>(ranks) * static_cast<float>(ranks) * 17.0f / 512;
        for (std::size_t i = 0; i < sum.size(); ++i) {
            ASSERT_NEAR(buffers[0][i], sum[i], bound);
        }
    }
}

std::vector<const PlanAlgorithm*> algorithms_of(std::span<const Collective> wanted) {
    std::vector<const PlanAlgorithm*> found;
    for (const PlanAlgorithm& algorithm : plan_algorithms()) {
        if (std::ranges::find(wanted, algorithm.collective) != wanted.end()) {
            found.push_back(&algorithm);
        }
    }
    return found;
}

std::string name_of(const testing::TestParamInfo<const PlanAlgorithm*>& info) {
    std::string name = std::string(to_string(info.param->collective)) + "_" + info.param->name;
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, PlanOperations, testing::ValuesIn(algorithms_of(collectives)), name_of);
constexpr Collective allreduce_only[] = {Collective::allreduce};
INSTANTIATE_TEST_SUITE_P(All, PlanAllreduces, testing::ValuesIn(algorithms_of(allreduce_only)), name_of);

}  // namespace
}  // namespace mastic::comm
