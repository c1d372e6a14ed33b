// Buffers on a device over transports that know host memory only, on 1 to 4 ranks.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <mastic/comm/mpi/session.hpp>

#include "comm/device/fake_device.hpp"
#include "comm/mpi/exact_values.hpp"
#include "comm/mpi/session_fixture.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::expected_of;
using test::FakeDevice;
using test::session;
using test::value_of;

class DeviceBuffers : public testing::TestWithParam<TransportKind> {
  protected:
    void SetUp() override {
        device_ = std::make_shared<FakeDevice>(
            test::FakeDeviceOptions{.seed = static_cast<std::uint64_t>(session().rank()) + 1});
        group_ = session().make_group(
            {.transport = GetParam(), .device = device_, .staging = {.chunk = Bytes{8192}, .depth = 3}});
        size_ = group_->size();
        rank_ = group_->rank();
    }

    static std::vector<float> contribution(int rank, std::size_t count) {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = static_cast<float>(value_of(rank, i));
        }
        return values;
    }
    static BufferView on_device(std::vector<float>& values) {
        BufferView view = view_of(std::span(values));
        view.memory = MemoryKind::device;
        return view;
    }
    std::vector<float> expected(std::size_t count, ReduceOp op) const {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            const int exact = expected_of(size_, i, op);
            values[i] =
                op == ReduceOp::average ? test::average_of<float>(exact, size_) : static_cast<float>(exact);
        }
        return values;
    }

    std::shared_ptr<FakeDevice> device_;
    std::unique_ptr<Group> group_;
    int size_ = 0;
    int rank_ = 0;
};

TEST_P(DeviceBuffers, AllreduceIsExactForEveryOperationAndSize) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::average}) {
        for (const std::size_t count : {0u, 1u, 2048u, 2049u, 30'000u}) {
            std::vector<float> values = contribution(rank_, count);
            group_->allreduce(on_device(values), op);
            EXPECT_EQ(values, expected(count, op)) << to_string(op) << " of " << count;
        }
    }
    EXPECT_EQ(device_->in_flight(), 0);
}

// Some on the device, some on the host, some urgent: as a training starts them.
TEST_P(DeviceBuffers, SeveralAreInFlightTogether) {
    constexpr std::size_t count = 20'000;
    std::vector<std::vector<float>> buffers(6, contribution(rank_, count));
    std::vector<Request> requests;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const BufferView buffer = i % 3 == 2 ? view_of(std::span(buffers[i])) : on_device(buffers[i]);
        requests.push_back(
            group_->start_allreduce(buffer, ReduceOp::sum, {.priority = static_cast<int>(i % 2)}));
    }
    for (const Request& request : requests) {
        request.wait();
    }
    for (const auto& buffer : buffers) {
        EXPECT_EQ(buffer, expected(count, ReduceOp::sum));
    }
}

TEST_P(DeviceBuffers, BroadcastComesFromItsRoot) {
    for (int root = 0; root < size_; ++root) {
        std::vector<float> values = contribution(rank_, 10'000);
        group_->broadcast(on_device(values), root);
        EXPECT_EQ(values, contribution(root, 10'000));
    }
}

TEST_P(DeviceBuffers, AllgatherAndReduceScatterMixMemories) {
    constexpr std::size_t part = 3001;
    const auto ranks = static_cast<std::size_t>(size_);
    for (const bool host_send : {false, true}) {
        std::vector<float> mine = contribution(rank_, part);
        std::vector<float> all(part * ranks, -1);
        group_->allgather(host_send ? view_of(std::span(mine)) : on_device(mine), on_device(all));
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * part);
            EXPECT_EQ(std::vector<float>(begin, begin + part), contribution(static_cast<int>(rank), part));
        }
        std::vector<float> whole = contribution(rank_, part * ranks);
        const std::vector<float> before = whole;
        group_->reduce_scatter(host_send ? view_of(std::span(whole)) : on_device(whole), on_device(mine),
                               ReduceOp::sum);
        const std::vector<float> sums = expected(part * ranks, ReduceOp::sum);
        const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank_) * part);
        EXPECT_EQ(mine, std::vector<float>(begin, begin + part));
        EXPECT_EQ(whole, before);
    }
}

std::string name_of_transport(const testing::TestParamInfo<TransportKind>& info) {
    return to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(, DeviceBuffers,
                         testing::Values(TransportKind::native, TransportKind::mpi, TransportKind::shm,
                                         TransportKind::tcp),
                         name_of_transport);

TEST(DeviceBuffersErrors, AFailedCopyOnOneRankEndsTheOperationThere) {
    const auto device = std::make_shared<FakeDevice>(test::FakeDeviceOptions{.failing_copy = 0});
    const auto group = session().make_group({.device = device});
    std::vector<float> values(100'000);
    BufferView buffer = view_of(std::span(values));
    buffer.memory = MemoryKind::device;
    test::expect_error(ExitCode::environment, "it failed", [&] { group->allreduce(buffer, ReduceOp::sum); });
    EXPECT_EQ(device->in_flight(), 0);
}

}  // namespace
}  // namespace mastic::comm
