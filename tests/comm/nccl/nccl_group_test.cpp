// The group over NCCL with everything but NCCL and the GPU: ranks, shared GPUs, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <mastic/comm/nccl/gpu_placement.hpp>
#include <mastic/comm/nccl/nccl_group.hpp>
#include <mastic/core/error.hpp>

#include "comm/mpi/exact_values.hpp"
#include "comm/mpi/session_fixture.hpp"
#include "comm/nccl/fake_nccl.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::FakeDevice;
using test::FakeNccl;
using test::NcclFault;
using test::session;
using testing::HasSubstr;

constexpr int nccl_2_28 = 22809;

struct World {
    int ranks_per_gpu = 1;
    bool shares_memory = true;
    int version = nccl_2_28;
    NcclFault fault = NcclFault::none;
    NcclGroupOptions options{.window = Bytes{4096}};
};

// One rank's side of it.
class Ranks {
  public:
    explicit Ranks(const World& world) {
        const int rank = session().rank();
        const auto gpu_of = [&](int of) { return "GPU " + std::to_string(of / world.ranks_per_gpu); };
        device_ =
            std::make_shared<FakeDevice>(test::FakeDeviceOptions{.seed = static_cast<std::uint64_t>(rank) + 1,
                                                                 .uuid = gpu_of(rank),
                                                                 .shares = world.shares_memory});
        std::vector<std::string> uuids;
        for (int other = 0; other < session().size(); ++other) {
            uuids.push_back(gpu_of(other));
        }
        const bool leads = place_on_gpus(uuids, rank, world.version).leads(rank);
        const auto all = session().make_group({});
        nccl_ =
            std::make_shared<FakeNccl>(device_, all->split(leads ? 0 : -1, 0), world.version, world.fault);
        group_ = make_nccl_group(session().make_group({.device = device_, .staging = {.chunk = Bytes{4096}}}),
                                 device_, nccl_, world.options);
    }

    Group& group() { return *group_; }
    FakeDevice& device() { return *device_; }
    FakeNccl& nccl() { return *nccl_; }
    void leave() { group_.reset(); }

    std::vector<float> contribution(std::size_t count) const {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = static_cast<float>(test::value_of(group_->rank(), i));
        }
        return values;
    }
    std::vector<float> reduced(std::size_t count, ReduceOp op) const {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            const int exact = test::expected_of(group_->size(), i, op);
            values[i] = op == ReduceOp::average ? test::average_of<float>(exact, group_->size())
                                                : static_cast<float>(exact);
        }
        return values;
    }

  private:
    std::shared_ptr<FakeDevice> device_;
    std::shared_ptr<FakeNccl> nccl_;
    std::unique_ptr<Group> group_;
};

BufferView on_device(std::vector<float>& values, void* stream = nullptr) {
    return {values.data(), values.size(), DataType::float32, MemoryKind::device, stream};
}

void expect_all_reductions(Ranks& ranks) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::average}) {
        for (const std::size_t count : {1u, 1024u, 1025u, 5000u}) {
            std::vector<float> values = ranks.contribution(count);
            ranks.group().allreduce(on_device(values), op);
            EXPECT_EQ(values, ranks.reduced(count, op)) << to_string(op) << " of " << count;
        }
    }
}

TEST(NcclGroup, ReducesAndBroadcastsWithAGpuForEachRank) {
    Ranks ranks({});
    expect_all_reductions(ranks);
    for (int root = 0; root < ranks.group().size(); ++root) {
        std::vector<float> values(3000, static_cast<float>(ranks.group().rank()));
        ranks.group().broadcast(on_device(values), root);
        EXPECT_EQ(values, std::vector<float>(3000, static_cast<float>(root)));
    }
    EXPECT_THAT(ranks.group().description(),
                HasSubstr("NCCL 2.28.9 on " + std::to_string(session().size()) + " GPUs"));
}

TEST(NcclGroup, StartsAfterTheStreamOfItsBufferAndKeepsManyInFlight) {
    Ranks ranks({});
    const auto compute = ranks.device().make_stream();
    const std::vector<float> computed = ranks.contribution(2000);
    std::vector<std::vector<float>> buffers(10, std::vector<float>(2000, -1));
    std::vector<Request> requests;
    for (auto& buffer : buffers) {
        compute->copy(buffer.data(), computed.data(), 2000 * sizeof(float));
        requests.push_back(
            ranks.group().start_allreduce(on_device(buffer, compute->native()), ReduceOp::sum, {}));
    }
    for (const Request& request : requests) {
        request.wait();
    }
    for (const auto& buffer : buffers) {
        EXPECT_EQ(buffer, ranks.reduced(2000, ReduceOp::sum));
    }
}

TEST(NcclGroup, RanksOfOneGpuReduceInItsMemoryFirst) {
    for (const int ranks_per_gpu : {2, 3, 4}) {
        Ranks ranks({.ranks_per_gpu = ranks_per_gpu});
        expect_all_reductions(ranks);
        if (session().rank() == 0 && session().size() >= 2) {
            EXPECT_THAT(ranks.group().description(),
                        HasSubstr("ranks on this one reduce through its memory first"));
        }
        std::vector<float> values(3000, static_cast<float>(ranks.group().rank()));
        ranks.group().broadcast(on_device(values), ranks.group().size() - 1);
        EXPECT_EQ(values, std::vector<float>(3000, static_cast<float>(ranks.group().size() - 1)));
        EXPECT_EQ(ranks.nccl().communicators(), session().rank() % ranks_per_gpu == 0 ? 1 : 0);
    }
}

TEST(NcclGroup, RanksOfOneGpuReduceThroughTheHostWhereTheirMemoryIsTheirOwn) {
    Ranks ranks({.ranks_per_gpu = 2, .shares_memory = false});
    expect_all_reductions(ranks);
    if (session().rank() == 0 && session().size() >= 2) {
        EXPECT_THAT(ranks.group().description(), HasSubstr("reduce through host memory first"));
    }
}

TEST(NcclGroup, NcclThatSharesGpusHasAllRanks) {
    Ranks ranks({.ranks_per_gpu = 4, .version = nccl_shares_gpus_since});
    expect_all_reductions(ranks);
    EXPECT_EQ(ranks.nccl().communicators(), 1);
}

TEST(NcclGroup, HostMemoryGoesToTheGroupBelow) {
    Ranks ranks({});
    std::vector<float> values = ranks.contribution(1000);
    ranks.group().allreduce(view_of(std::span(values)), ReduceOp::sum);
    EXPECT_EQ(values, ranks.reduced(1000, ReduceOp::sum));
    std::vector<float> all(1000 * static_cast<std::size_t>(session().size()));
    ranks.group().allgather(on_device(values), on_device(all));
    EXPECT_EQ(all.back(), values.back());
    ranks.group().barrier();
}

TEST(NcclGroup, ConnectingIsBounded) {
    test::expect_error(ExitCode::collective, "the ranks did not find one another", [] {
        Ranks({.fault = NcclFault::never_connects, .options = {.connect = Seconds(0.05)}});
    });
}

TEST(NcclGroup, NoIdentityIsTheSameErrorOnAllRanks) {
    test::expect_error(ExitCode::environment, "NCCL_SOCKET_IFNAME",
                       [] { Ranks({.fault = NcclFault::refuses_id}); });
}

TEST(NcclGroup, DifferentVersionsAreRefused) {
    if (session().size() == 1) {
        GTEST_SKIP() << "needs two ranks";
    }
    test::expect_error(ExitCode::environment, "load the same NCCL on all nodes",
                       [] { Ranks({.version = nccl_2_28 + session().rank()}); });
}

TEST(NcclGroup, AnOperationThatHangsIsAborted) {
    NcclGroupOptions options{.window = Bytes{4096}};
    options.limits.timeout = Seconds(0.3);
    Ranks ranks({.fault = NcclFault::hangs, .options = options});
    std::vector<float> values = ranks.contribution(2000);
    test::expect_error(ExitCode::collective, "did not complete within",
                       [&] { ranks.group().allreduce(on_device(values), ReduceOp::sum); });
    ranks.leave();  // does not hang
    EXPECT_EQ(ranks.device().in_flight(), 0);
}

// Nobody waits for the request: the group goes with its operation in flight.
TEST(NcclGroup, LeavingAnOperationBehindAbortsIt) {
    Ranks ranks({.fault = NcclFault::hangs});
    std::vector<float> values = ranks.contribution(2000);
    ranks.group().start_allreduce(on_device(values), ReduceOp::sum, {});
    ranks.leave();
    EXPECT_GT(ranks.nccl().aborts(), 0);
    EXPECT_EQ(ranks.device().in_flight(), 0);
}

TEST(NcclGroup, ALostRankEndsEverythingWithCode7) {
    Ranks ranks({.fault = NcclFault::loses_a_rank});
    std::vector<float> values = ranks.contribution(2000);
    test::expect_error(ExitCode::collective, "a rank is lost",
                       [&] { ranks.group().allreduce(on_device(values), ReduceOp::sum); });
    EXPECT_GT(ranks.nccl().aborts(), 0);
    test::expect_error(ExitCode::collective, "",
                       [&] { ranks.group().allreduce(on_device(values), ReduceOp::sum); });
}

TEST(NcclGroup, APartWithoutThisRankIsNull) {
    Ranks ranks({});
    EXPECT_EQ(ranks.group().split(-1, 0), nullptr);
}

}  // namespace
}  // namespace mastic::comm
