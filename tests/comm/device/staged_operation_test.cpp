// The pipeline of chunks, over a device of host memory that delays everything.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <mastic/comm/device/staging.hpp>
#include <mastic/core/error.hpp>

#include "comm/device/fake_device.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::FakeDevice;
using test::FakeDeviceOptions;

constexpr int most_steps = 1'000'000;

// What the chunks' operations saw.
struct Log {
    int started = 0;
    int running = 0;
    int most_running = 0;
    int copies_at_last_start = 0;
};

// Adds `rank_sum` to each element, at its end, after some steps.
class AddOnHost : public Operation {
  public:
    AddOnHost(BufferView host, int steps, Log& log, bool fails)
        : host_(host), steps_(steps), log_(log), fails_(fails) {}
    void start() override {
        ++log_.started;
        log_.most_running = std::max(log_.most_running, ++log_.running);
    }
    Step step() override {
        if (steps_-- > 0) {
            return Step::waiting;
        }
        if (fails_) {
            throw Error(ExitCode::collective, "a peer died");
        }
        auto* values = static_cast<std::int32_t*>(host_.data);
        for (std::size_t i = 0; i < host_.count; ++i) {
            values[i] += 1000;
        }
        --log_.running;
        return Step::complete;
    }

  private:
    BufferView host_;
    int steps_;
    Log& log_;
    bool fails_;
};

std::shared_ptr<void> from_heap(std::size_t bytes) {
    return {new std::byte[bytes], [](void* memory) { delete[] static_cast<std::byte*>(memory); }};
}

struct Pipeline {
    explicit Pipeline(const FakeDeviceOptions& device_options = {}, StagingOptions staging_options = {})
        : device(std::make_shared<FakeDevice>(device_options)),
          staging(device, staging_options, from_heap),
          random(device_options.seed) {}

    BufferView fill(std::size_t count, void* stream = nullptr) {
        values.resize(count);
        std::iota(values.begin(), values.end(), 0);
        return {values.data(), count, DataType::int32, MemoryKind::device, stream};
    }

    std::unique_ptr<Operation> make(const BufferView& buffer, int failing_chunk = -1) {
        return staging.in_chunks(buffer, {}, [&, chunk = 0](const BufferView& host) mutable {
            EXPECT_EQ(host.memory, MemoryKind::pinned);
            const int steps = std::uniform_int_distribution<int>(0, 6)(random);
            return std::make_unique<AddOnHost>(host, steps, log, chunk++ == failing_chunk);
        });
    }

    static void run(Operation& operation) {
        operation.start();
        for (int step = 0; step < most_steps; ++step) {
            if (operation.step() == Step::complete) {
                return;
            }
        }
        FAIL() << "the operation does not end";
    }

    bool all_added() const {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] != static_cast<std::int32_t>(i) + 1000) {
                return false;
            }
        }
        return true;
    }

    std::shared_ptr<FakeDevice> device;
    Staging staging;
    std::mt19937_64 random;
    Log log;
    std::vector<std::int32_t> values;
};

TEST(ChunkCounts, CoverTheBufferInEqualPartsButTheLast) {
    EXPECT_EQ(chunk_counts(10, 4, Bytes{16}), (std::vector<std::size_t>{4, 4, 2}));
    EXPECT_EQ(chunk_counts(8, 4, Bytes{16}), (std::vector<std::size_t>{4, 4}));
    EXPECT_EQ(chunk_counts(3, 8, Bytes{4}), (std::vector<std::size_t>{1, 1, 1}));
    EXPECT_EQ(chunk_counts(0, 4, Bytes{16}), (std::vector<std::size_t>{0}));
}

TEST(StagedOperation, GivesExactResultsForEverySizeDepthAndDelay) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (const std::size_t count : {0u, 1u, 1024u, 1025u, 5000u, 20'000u}) {
            const int depth = static_cast<int>(seed % 4) + 1;
            Pipeline pipeline({.seed = seed, .longest_delay = static_cast<int>(seed % 9) + 1},
                              {.chunk = Bytes{4096}, .depth = depth});
            const BufferView buffer = pipeline.fill(count);
            Pipeline::run(*pipeline.make(buffer));
            ASSERT_TRUE(pipeline.all_added())
                << "seed " << seed << ", count " << count << ", depth " << depth;
            ASSERT_EQ(pipeline.device->in_flight(), 0);
            ASSERT_LE(pipeline.log.most_running, 1);
            ASSERT_LE(pipeline.device->most_in_flight(), 2 * depth);
        }
    }
}

// While the first chunk is on the host, the next two are on their way: that is what the chunks are for.
TEST(StagedOperation, CopiesTheNextChunksWhileOneIsReduced) {
    Pipeline pipeline({}, {.chunk = Bytes{4096}, .depth = 3});
    const BufferView buffer = pipeline.fill(20 * 1024);
    const auto operation = pipeline.make(buffer);
    operation->start();
    while (pipeline.log.started == 0) {
        operation->step();
    }
    EXPECT_GE(pipeline.device->copies(), 3);
    while (pipeline.log.started < 5) {
        operation->step();
    }
    // Of the first four chunks some are back; three of those behind are fetched.
    EXPECT_GT(pipeline.device->copies(), 5 + 1);
}

TEST(StagedOperation, WaitsForTheStreamOfItsBuffer) {
    Pipeline pipeline({.longest_delay = 30}, {.chunk = Bytes{4096}, .depth = 2});
    const auto compute = pipeline.device->make_stream();
    const BufferView buffer = pipeline.fill(5000, compute->native());
    const std::vector<std::int32_t> computed = pipeline.values;
    std::fill(pipeline.values.begin(), pipeline.values.end(), -1);
    compute->copy(pipeline.values.data(), computed.data(), buffer.bytes());
    Pipeline::run(*pipeline.make(buffer));
    EXPECT_TRUE(pipeline.all_added());
}

TEST(StagedOperation, AFailedCopyEndsItWithNothingInFlight) {
    for (int failing = 0; failing < 10; ++failing) {
        Pipeline pipeline({.seed = 7, .failing_copy = failing}, {.chunk = Bytes{4096}, .depth = 3});
        const BufferView buffer = pipeline.fill(5 * 1024);
        const auto operation = pipeline.make(buffer);
        test::expect_error(ExitCode::environment, "it failed", [&] { Pipeline::run(*operation); });
        EXPECT_EQ(pipeline.device->in_flight(), 0);
    }
}

TEST(StagedOperation, AFailedReductionEndsItWithNothingInFlight) {
    for (int failing = 0; failing < 5; ++failing) {
        Pipeline pipeline({.seed = 3}, {.chunk = Bytes{4096}, .depth = 3});
        const BufferView buffer = pipeline.fill(5 * 1024);
        const auto operation = pipeline.make(buffer, failing);
        test::expect_error(ExitCode::collective, "a peer died", [&] { Pipeline::run(*operation); });
        EXPECT_EQ(pipeline.device->in_flight(), 0);
    }
}

TEST(StagedOperation, DestroyedAtAnyStepLeavesNothingInFlight) {
    for (int steps = 0; steps < 120; ++steps) {
        Pipeline pipeline({.seed = 5}, {.chunk = Bytes{4096}, .depth = 3});
        const BufferView buffer = pipeline.fill(6 * 1024);
        {
            const auto operation = pipeline.make(buffer);
            operation->start();
            for (int step = 0; step < steps && operation->step() != Step::complete; ++step) {
            }
        }
        ASSERT_EQ(pipeline.device->in_flight(), 0) << "after " << steps << " steps";
    }
}

TEST(Staging, UsesItsPinnedMemoryAgain) {
    std::shared_ptr<FakeDevice> device;
    {
        Pipeline pipeline({}, {.chunk = Bytes{4096}, .depth = 3});
        device = pipeline.device;
        for (int i = 0; i < 10; ++i) {
            const BufferView buffer = pipeline.fill(20'000);
            Pipeline::run(*pipeline.make(buffer));
            ASSERT_TRUE(pipeline.all_added());
            EXPECT_EQ(pipeline.staging.pool().allocated(), 3u * 4096);
            EXPECT_EQ(device->pins(), 3);
        }
    }
    EXPECT_EQ(device->pins(), 0);
}

TEST(Staging, BringsOnlyWhatTravels) {
    Pipeline pipeline({}, {.chunk = Bytes{4096}, .depth = 3});
    const BufferView buffer = pipeline.fill(3000);  // three chunks
    const auto nothing = [&](const BufferView& host) {
        return std::make_unique<AddOnHost>(host, 0, pipeline.log, false);
    };
    Pipeline::run(*pipeline.staging.in_chunks(buffer, {.fetch = true, .put = false}, nothing));
    EXPECT_GE(pipeline.device->copies(), 3);
    EXPECT_EQ(pipeline.values[2999], 2999);
}

// Two operations share the streams, as those of two lanes do.
TEST(Staging, OperationsTakeTurnsWithoutMixing) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Pipeline pipeline({.seed = seed}, {.chunk = Bytes{4096}, .depth = 2});
        const BufferView whole = pipeline.fill(12'000);
        BufferView first = whole;
        BufferView second = whole;
        first.count = 5000;
        second.data = static_cast<std::int32_t*>(whole.data) + first.count;
        second.count = whole.count - first.count;
        const auto one = pipeline.make(first);
        const auto other = pipeline.make(second);
        one->start();
        other->start();
        bool one_done = false;
        bool other_done = false;
        for (int step = 0; step < most_steps && !(one_done && other_done); ++step) {
            one_done = one_done || one->step() == Step::complete;
            other_done = other_done || other->step() == Step::complete;
        }
        ASSERT_TRUE(one_done && other_done);
        ASSERT_TRUE(pipeline.all_added()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace mastic::comm
