// Memory that is full, cannot be read or whose owner has died; and that nothing stays behind.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <mastic/comm/shm/shm_node.hpp>
#include <mastic/core/file.hpp>

#include "comm/shm/local_ranks.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::comm {
namespace {

using test::drive;
using test::expect_error;
using test::expect_ranks;
using test::LocalGroup;
using test::TempDir;
using test::TmpfsMount;

constexpr std::size_t mib = std::size_t(1) << 20;

TEST(ShmFaults, AllocateGivesZerosAndTakesPagesBack) {
    const TmpfsMount disk(Bytes{16 * mib});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    expect_ranks(2, [&](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.lanes = 1, .directory = disk.path()});
        group.barrier();
        const std::uint64_t before = free_space(disk.path()).count;
        group.barrier();
        for (int round = 0; round < 3; ++round) {
            const auto first = node->allocate(100);
            auto second = node->allocate(2 * mib + 1);
            const auto third = node->allocate(4096);
            second.reset();
            second = node->allocate(mib);  // into the hole
            for (const auto& memory : {first, second, third}) {
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
            }
            auto* values = static_cast<std::uint8_t*>(second.get());
            EXPECT_EQ(std::count(values, values + mib, 0), static_cast<std::ptrdiff_t>(mib));
            std::memset(first.get(), 1, 100);
            std::memset(second.get(), 1, mib);
            std::memset(third.get(), 1, 4096);
            EXPECT_EQ(std::count(values, values + mib, 1), static_cast<std::ptrdiff_t>(mib));
            drive(*node->make_allreduce(0, {values, mib, DataType::uint8}, ReduceOp::sum, ShmMethod::direct));
            EXPECT_EQ(std::count(values, values + mib, 2), static_cast<std::ptrdiff_t>(mib));
        }
        group.barrier();
        EXPECT_EQ(free_space(disk.path()).count, before);
    });
}

TEST(ShmFaults, NoRoomIsANullAndLeavesTheRest) {
    const TmpfsMount disk(Bytes{8 * mib});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    expect_ranks(2, [&](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.lanes = 1, .directory = disk.path()});
        EXPECT_EQ(node->allocate(std::size_t(1) << 40), nullptr);
        EXPECT_EQ(node->allocate(~std::size_t(0)), nullptr);
        group.barrier();
        std::vector<std::shared_ptr<void>> all;
        while (auto memory = node->allocate(512 << 10)) {
            std::memset(memory.get(), 1, 512 << 10);
            all.push_back(std::move(memory));
        }
        group.barrier();
        EXPECT_EQ(node->allocate(mib), nullptr);
        std::vector<float> values(30'000, 1.0f);
        drive(*node->make_allreduce(0, view_of(std::span(values)), ReduceOp::sum));
        EXPECT_EQ(values.back(), 2.0f);
        all.clear();
        group.barrier();
        EXPECT_NE(node->allocate(mib), nullptr);
    });
}

TEST(ShmFaults, AllocationsOutliveTheNode) {
    expect_ranks(2, [](LocalGroup& group) {
        auto node = ShmNode::create(group, {});
        const auto memory = node->allocate(10'000);
        node.reset();
        std::memset(memory.get(), 1, 10'000);
    });
}

TEST(ShmFaults, FullMemoryFailsOnAllRanksAndLeavesNothing) {
    const TmpfsMount disk(Bytes{64 << 10});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    expect_ranks(3, [&](LocalGroup& group) {
        expect_error(ExitCode::environment, "no room for shared memory in " + disk.path().string(),
                     [&] { ShmNode::create(group, {.directory = disk.path()}); });
    });
    EXPECT_TRUE(test::names_in(disk.path()).empty());
}

TEST(ShmFaults, AFaultOfOneRankFailsAll) {
    const TempDir directory;
    expect_ranks(3, [&](LocalGroup& group) {
        if (group.rank() == 1) {
            const rlimit small{4096, 4096};
            setrlimit(RLIMIT_FSIZE, &small);
        }
        expect_error(ExitCode::environment, "rank 1: the limit on file sizes, 4.0 KiB, is too small",
                     [&] { ShmNode::create(group, {.directory = directory.path()}); });
    });
    EXPECT_TRUE(directory.names().empty());
}

TEST(ShmFaults, AFileSizeLimitMakesTheArenaSmall) {
    expect_ranks(2, [](LocalGroup& group) {
        const rlimit small{12 * mib, 12 * mib};
        setrlimit(RLIMIT_FSIZE, &small);
        const auto node = ShmNode::create(group, {.lanes = 2});
        EXPECT_NE(node->allocate(mib), nullptr);
        EXPECT_EQ(node->allocate(8 * mib), nullptr);
    });
}

TEST(ShmFaults, NothingIsLeftOfKilledProcesses) {
    const TempDir directory;
    const auto statuses = test::run_ranks(2, [&](LocalGroup& group) {
        const auto node = ShmNode::create(group, {.directory = directory.path()});
        const auto memory = node->allocate(mib);
        group.barrier();
        std::raise(SIGKILL);
    });
    EXPECT_EQ(statuses, (std::vector<int>{SIGKILL, SIGKILL}));
    EXPECT_TRUE(directory.names().empty());
}

// Rank 0 reduces the first half, which it cannot read at rank 1; both learn of it, and the lane is as good as before.
TEST(ShmFaults, ABufferThatCannotBeReadIsAnErrorOnAllRanks) {
    expect_ranks(2, [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        if (!node->single_copy()) {
            return;
        }
        void* memory = mmap(nullptr, 2 * mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        const BufferView view{memory, 2 * mib / sizeof(float), DataType::float32};
        if (group.rank() == 1) {
            mprotect(memory, mib, PROT_NONE);
        }
        expect_error(ExitCode::collective,
                     group.rank() == 0 ? "cannot read the buffer of rank 1"
                                       : "rank 0 of this node could not do its part",
                     [&] { drive(*node->make_allreduce(0, view, ReduceOp::sum)); });
        mprotect(memory, mib, PROT_READ | PROT_WRITE);
        drive(*node->make_allreduce(0, view, ReduceOp::sum));
        munmap(memory, 2 * mib);
    });
}

TEST(ShmFaults, WaitingForADeadRankJustWaits) {
    const auto statuses = test::run_ranks(2, [](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        if (group.rank() == 1) {
            std::raise(SIGKILL);
        }
        std::vector<float> values(100'000, 1.0f);
        int lane = 0;
        for (const ShmMethod method : {ShmMethod::automatic, ShmMethod::one_shot, ShmMethod::copy}) {
            const auto operation =
                node->make_allreduce(lane++, view_of(std::span(values)), ReduceOp::sum, method);
            operation->start();
            for (int i = 0; i < 1000; ++i) {
                ASSERT_EQ(operation->step(), Step::waiting);
                test::nap();
            }
        }
    });
    EXPECT_EQ(statuses, (std::vector<int>{0, SIGKILL}));
}

// Its buffer is on offer, but it cannot be read any more.
TEST(ShmFaults, ARankThatDiesInAnOperationIsNamed) {
    auto* started = static_cast<std::atomic<pid_t>*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const auto statuses = test::run_ranks(2, [&](LocalGroup& group) {
        const auto node = ShmNode::create(group, {});
        if (!node->single_copy()) {
            std::raise(group.rank() == 1 ? SIGKILL : SIGCONT);  // nothing to see here
            return;
        }
        std::vector<float> values(100'000, 1.0f);
        const auto operation = node->make_allreduce(0, view_of(std::span(values)), ReduceOp::sum);
        operation->start();
        if (group.rank() == 1) {
            *started = getpid();
            std::raise(SIGKILL);
        }
        for (std::string state; state != "Z";) {
            test::nap();
            std::string ignored;
            std::ifstream file("/proc/" + std::to_string(started->load()) + "/stat");
            if (!(file >> ignored >> ignored >> state) && *started != 0) {
                break;
            }
        }
        expect_error(ExitCode::collective, "rank 1 (process " + std::to_string(*started) + ") has gone", [&] {
            while (operation->step() != Step::complete) {
            }
        });
    });
    EXPECT_EQ(statuses, (std::vector<int>{0, SIGKILL}));
    munmap(started, 4096);
}

}  // namespace
}  // namespace mastic::comm
