#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "fault/checkpoint_state.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

#include <mastic/checkpoint/async_writer.hpp>
#include <mastic/checkpoint/snapshot.hpp>

namespace mastic::checkpoint {
namespace {

using test::difference_from_step;
using test::expect_error;
using test::small_store_options;
using test::state_of_step;
using test::TempDir;

constexpr Seconds long_enough{30};

// Holds the background thread at "file-created" until it is let go.
class Gate {
  public:
    FaultPoint fault_point() {
        return [this](const char* point) {
            if (std::strcmp(point, "file-created") == 0) {
                reached_.set_value();
                opened_.get_future().wait();
            }
        };
    }
    void wait_until_reached() { reached_.get_future().wait(); }
    void open() { opened_.set_value(); }

  private:
    std::promise<void> reached_;
    std::promise<void> opened_;
};

void commit(const CheckpointStore& store, const WriteOutcome& outcome) {
    const ShardRecord record = outcome.value();
    store.commit({outcome.step, 0, 1, "{}"}, {&record, 1});
}

TEST(AsyncWriter, WhatIsWrittenIsTheStateAtTheTimeOfTheCall) {
    const TempDir directory;
    const CheckpointStore store(directory.path(), small_store_options());
    AsyncCheckpointWriter writer(store, 0, 1);
    std::vector<float> weights(1000, 1.0f);
    State state;
    state.entries.push_back(
        whole_entry("model/w", DataType::float32, {1000}, std::as_bytes(std::span(weights))));
    for (std::uint64_t step = 1; step <= 3; ++step) {
        const auto value = static_cast<float>(step);
        std::ranges::fill(weights, value);
        ASSERT_TRUE(writer.submit(step, state, long_enough));
        std::ranges::fill(weights, -1.0f);  // the next training step
        const auto outcome = writer.wait(long_enough);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(outcome->step, step);
        EXPECT_EQ(outcome->timing.bytes, 4000u);
        EXPECT_GT(outcome->timing.write.count(), 0);
        commit(store, *outcome);
        const auto restored = store.restore();
        ASSERT_TRUE(restored);
        const std::vector<float> expected(1000, value);
        EXPECT_TRUE(std::ranges::equal(restored->state.entries[0].bytes, std::as_bytes(std::span(expected))));
    }
}

TEST(AsyncWriter, AStartedCopyKeepsWhatItCopiesAliveAndTellsWhenItIsDone) {
    const TempDir directory;
    const CheckpointStore store(directory.path());
    AsyncCheckpointWriter writer(store, 0, 1);
    EXPECT_TRUE(writer.wait_copied(Seconds(0)));
    auto weights = std::make_shared<std::vector<float>>(1 << 20, 7.0f);
    State state;
    state.entries.push_back(whole_entry("model/w", DataType::float32, {1 << 20},
                                        std::as_bytes(std::span(*weights)), weights));
    const std::weak_ptr<std::vector<float>> watched = weights;
    ASSERT_TRUE(writer.start(1, state));
    state = State{};
    weights.reset();
    ASSERT_TRUE(writer.wait_copied(long_enough));
    const auto outcome = writer.wait(long_enough);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(watched.expired());
    commit(store, *outcome);
    const std::vector<float> expected(1 << 20, 7.0f);
    EXPECT_TRUE(std::ranges::equal(store.restore()->state.entries[0].bytes, std::as_bytes(std::span(expected))));
}

TEST(AsyncWriter, WhileAWriteIsInFlightASecondIsRefusedOrWaits) {
    const TempDir directory;
    Gate gate;
    StoreOptions options;
    options.fault_point = [hold = gate.fault_point(), first = true](const char* point) mutable {
        if (std::exchange(first, false)) {
            hold(point);
        }
    };
    const CheckpointStore store(directory.path());
    AsyncCheckpointWriter writer(CheckpointStore(directory.path(), options), 0, 1);
    ASSERT_TRUE(writer.submit(1, state_of_step(1, 0, 1)));
    gate.wait_until_reached();
    EXPECT_TRUE(writer.busy());
    EXPECT_FALSE(writer.poll());
    EXPECT_FALSE(writer.submit(2, state_of_step(2, 0, 1)));
    EXPECT_FALSE(writer.submit(2, state_of_step(2, 0, 1), Seconds(0.01)));
    gate.open();
    ASSERT_TRUE(writer.submit(3, state_of_step(3, 0, 1), long_enough));
    const auto first = writer.wait(long_enough);
    const auto third = writer.wait(long_enough);
    ASSERT_TRUE(first && third);
    EXPECT_EQ(first->step, 1u);
    EXPECT_EQ(third->step, 3u);
    commit(store, *third);
    EXPECT_EQ(difference_from_step(store.restore()->state, 3, 1), "");
    EXPECT_FALSE(writer.busy());
}

TEST(AsyncWriter, AnErrorIsTheOutcomeAndTheNextWriteIsNotDisturbed) {
    const TempDir directory;
    StoreOptions options;
    options.fault_point = [first = true](const char*) mutable {
        if (std::exchange(first, false)) {
            throw Error(ExitCode::io, "injected");
        }
    };
    const CheckpointStore store(directory / "checkpoints");
    AsyncCheckpointWriter writer(CheckpointStore(store.directory(), options), 0, 1);
    ASSERT_TRUE(writer.submit(1, state_of_step(1, 0, 1)));
    const auto failed = writer.wait(long_enough);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->step, 1u);
    expect_error(ExitCode::io, "injected", [&] { failed->value(); });
    EXPECT_THAT(test::names_in(directory / "checkpoints"), testing::IsEmpty());

    ASSERT_TRUE(writer.submit(2, state_of_step(2, 0, 1)));
    const auto written = writer.wait(long_enough);
    ASSERT_TRUE(written);
    commit(store, *written);
    EXPECT_EQ(store.restore()->manifest.step, 2u);
}

TEST(AsyncWriter, ABadStateIsRefusedAtOnce) {
    const TempDir directory;
    AsyncCheckpointWriter writer(CheckpointStore(directory.path()), 0, 1);
    State state = state_of_step(1, 0, 1);
    state.entries[0].name = "a//b";
    expect_error(ExitCode::usage, "a//b", [&] { writer.submit(1, state); });
    EXPECT_FALSE(writer.busy());
    EXPECT_TRUE(writer.submit(1, state_of_step(1, 0, 1)));
}

TEST(AsyncWriter, ItsEndWaitsForTheWriteInFlight) {
    const TempDir directory;
    std::atomic<bool> written = false;
    StoreOptions options;
    options.fault_point = [&](const char* point) {
        if (std::strcmp(point, "shard-written") == 0) {
            written = true;
        }
    };
    {
        AsyncCheckpointWriter writer(CheckpointStore(directory.path(), options), 0, 1);
        writer.submit(1, state_of_step(1, 0, 1));
    }
    EXPECT_TRUE(written);
}

TEST(AsyncWriter, AWriteThatNeverEndsDoesNotHoldUpTheEndForEver) {
    const TempDir directory;
    Gate gate;
    std::atomic<bool> done = false;
    StoreOptions options;
    options.fault_point = [hold = gate.fault_point(), &done](const char* point) {
        hold(point);
        done = done || std::strcmp(point, "shard-written") == 0;
    };
    {
        AsyncWriterOptions impatient;
        impatient.shutdown_timeout = Seconds(0.05);
        AsyncCheckpointWriter writer(CheckpointStore(directory.path(), options), 0, 1, impatient);
        writer.submit(1, state_of_step(1, 0, 1));
        gate.wait_until_reached();
    }
    EXPECT_FALSE(done);
    gate.open();
    while (!done) {  // bounded by ctest's timeout
        std::this_thread::yield();
    }
}

TEST(AsyncWriter, TheWriterThreadGivesWayAndTheCallerDoesNot) {
    const TempDir directory;
    const int before = getpriority(PRIO_PROCESS, 0);
    std::atomic<int> nice = -100;
    StoreOptions options;
    options.fault_point = [&](const char*) { nice = getpriority(PRIO_PROCESS, 0); };
    AsyncCheckpointWriter writer(CheckpointStore(directory.path(), options), 0, 1);
    writer.submit(1, state_of_step(1, 0, 1));
    ASSERT_TRUE(writer.wait(long_enough));
    EXPECT_EQ(nice, std::max(before, 10));
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

TEST(Snapshot, CopiesTheSameWithAnyNumberOfThreadsAndReusesItsMemory) {
    Snapshot snapshot;
    const std::byte* memory = nullptr;
    for (const int threads : {1, 2, 3, 7}) {
        const auto step = static_cast<std::uint64_t>(threads);
        snapshot.prepare(state_of_step(step, 0, 1));
        snapshot.copy(threads);
        EXPECT_EQ(difference_from_step(snapshot.state(), step, 1), "") << threads;
        const std::byte* now = snapshot.state().entries[0].bytes.data();
        EXPECT_TRUE(memory == nullptr || now == memory);
        memory = now;
    }
    EXPECT_EQ(snapshot.state().facts, "{}");
    snapshot.prepare(State{});
    snapshot.copy(4);
    EXPECT_TRUE(snapshot.state().entries.empty());
}

}  // namespace
}  // namespace mastic::checkpoint
