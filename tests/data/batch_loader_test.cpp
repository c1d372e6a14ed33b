#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include <mastic/core/error.hpp>
#include <mastic/data/batch_loader.hpp>
#include <mastic/data/synthetic_dataset.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using namespace std::chrono_literals;

std::shared_ptr<Dataset> images(std::uint64_t size) {
    return make_synthetic_dataset({size, {{1, 4, 4}, DataType::float32, {}, DataType::int64, 10}});
}

// Counts reads; can fail or hang at one sample.
class WatchedDataset final : public Dataset {
  public:
    explicit WatchedDataset(std::uint64_t size) : inner_(images(size)) {}

    std::uint64_t size() const override { return inner_->size(); }
    const SampleLayout& layout() const override { return inner_->layout(); }
    std::string description() const override { return "watched samples"; }
    void read(std::span<const std::uint64_t> ids, Batch& batch) const override {
        for (const auto id : ids) {
            if (id == fails_at) {
                throw Error(ExitCode::data, "sample " + std::to_string(id) + " is broken");
            }
            if (id == hangs_at) {
                release.wait();
            }
        }
        inner_->read(ids, batch);
        ++reads;
    }

    std::uint64_t fails_at = ~std::uint64_t{0};
    std::uint64_t hangs_at = ~std::uint64_t{0};
    std::shared_future<void> release;
    mutable std::atomic<int> reads = 0;

  private:
    std::shared_ptr<Dataset> inner_;
};

void wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
        std::this_thread::sleep_for(1ms);
    }
    ASSERT_TRUE(condition());
}

TEST(BatchLoader, DeliversWhatTheSamplerPlansInOrder) {
    const auto dataset = images(23);
    BatchLoader loader(dataset, endless_plans(DistributedSampler(23, 8, 3, true), 1, 2), {}, {}, {3});
    DistributedSampler sampler(23, 8, 3, true);
    Batch expected;
    for (int step = 0; step < 20; ++step) {
        const auto plan = sampler.next(1, 2);
        const auto* loaded = loader.next();
        ASSERT_NE(loaded, nullptr);
        dataset->read(plan.ids, expected);
        EXPECT_EQ(loaded->plan.ids, plan.ids);
        EXPECT_EQ(loaded->batch.ids, plan.ids);
        EXPECT_EQ(loaded->batch.inputs, expected.inputs);
        EXPECT_EQ(loaded->batch.targets, expected.targets);
        EXPECT_EQ(loader.position(), sampler.position());
    }
}

TEST(BatchLoader, PositionCountsWhatWasTakenNotWhatWasRead) {
    const auto dataset = std::make_shared<WatchedDataset>(40);
    BatchLoader loader(dataset, endless_plans(DistributedSampler(40, 4, 3, true), 0, 1), {}, {0, 0}, {4});
    wait_until([&] { return loader.ready() == 4; });
    EXPECT_EQ(loader.position(), (SamplerPosition{0, 0}));
    loader.next();
    EXPECT_EQ(loader.position(), (SamplerPosition{0, 4}));
}

TEST(BatchLoader, ReadsAheadUpToItsDepthAndNoFurther) {
    const auto dataset = std::make_shared<WatchedDataset>(400);
    BatchLoader loader(dataset, endless_plans(DistributedSampler(400, 4, 3, true), 0, 1), {}, {}, {3});
    wait_until([&] { return dataset->reads == 3; });
    const auto* const first = loader.next();
    const auto kept = first->batch.inputs;
    wait_until([&] { return dataset->reads == 4; });
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(dataset->reads, 4);
    EXPECT_EQ(first->batch.inputs, kept);
}

TEST(BatchLoader, BuffersAreRecycled) {
    BatchLoader loader(images(400), endless_plans(DistributedSampler(400, 4, 3, true), 0, 1), {}, {}, {2});
    std::set<const void*> buffers;
    for (int step = 0; step < 50; ++step) {
        const auto* loaded = loader.next();
        buffers.insert(loaded->batch.inputs.data());
        buffers.insert(loaded->plan.ids.data());
    }
    EXPECT_LE(buffers.size(), 6u);
}

TEST(BatchLoader, EndsAfterOneEpochIfAsked) {
    const auto dataset = images(10);
    BatchLoader loader(dataset, epoch_plans(DistributedSampler(10, 3, 0, false), 1, 2), {}, {});
    std::vector<std::size_t> counts;
    while (const auto* loaded = loader.next()) {
        counts.push_back(loaded->batch.count);
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{2, 2, 2, 1}));
    EXPECT_EQ(loader.next(), nullptr);
}

TEST(BatchLoader, EmptySharesAreDelivered) {
    BatchLoader loader(images(4), epoch_plans(DistributedSampler(4, 3, 0, false), 0, 3), {}, {});
    EXPECT_EQ(loader.next()->batch.count, 1u);
    const auto* last = loader.next();
    EXPECT_EQ(last->batch.count, 0u);
    EXPECT_EQ(last->plan.global_count, 1u);
}

TEST(BatchLoader, AugmentsByEpochAndId) {
    const auto dataset = images(16);
    const AugmentationOptions options{1, true, 9};
    BatchLoader loader(dataset, endless_plans(DistributedSampler(16, 16, 3, true), 0, 1),
                       Augmentation(options, dataset->layout()), {});
    Augmentation augmentation(options, dataset->layout());
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        const auto* loaded = loader.next();
        Batch expected;
        dataset->read(loaded->plan.ids, expected);
        augmentation.apply(expected, epoch);
        EXPECT_EQ(loaded->batch.inputs, expected.inputs);
    }
}

TEST(BatchLoader, AnErrorComesInItsTurnAndAgain) {
    const auto dataset = std::make_shared<WatchedDataset>(40);
    dataset->fails_at = 9;
    BatchLoader loader(dataset, endless_plans(DistributedSampler(40, 4, 3, false), 0, 1), {}, {}, {4});
    EXPECT_EQ(loader.next()->batch.count, 4u);
    EXPECT_EQ(loader.next()->batch.count, 4u);
    for (int again = 0; again < 2; ++again) {
        expect_error(ExitCode::data, "sample 9 is broken", [&] { loader.next(); });
    }
    EXPECT_EQ(loader.position(), (SamplerPosition{0, 8}));
}

TEST(BatchLoader, AHangingReadIsReportedAndLeftBehind) {
    std::promise<void> release;
    const auto dataset = std::make_shared<WatchedDataset>(40);
    dataset->hangs_at = 5;
    dataset->release = release.get_future().share();
    {
        BatchLoader loader(dataset, endless_plans(DistributedSampler(40, 4, 3, false), 0, 1), {}, {},
                           {2, Seconds(0.05), Seconds(0.05)});
        EXPECT_NE(loader.next(), nullptr);
        expect_error(ExitCode::io, "no batch came in 50 ms from watched samples", [&] { loader.next(); });
    }
    release.set_value();
    wait_until([&] { return dataset.use_count() == 1; });
}

TEST(BatchLoader, StopsWhileItWaitsForTheTaker) {
    const auto dataset = std::make_shared<WatchedDataset>(40);
    {
        BatchLoader loader(dataset, endless_plans(DistributedSampler(40, 4, 3, false), 0, 1), {}, {}, {2});
        wait_until([&] { return loader.ready() == 2; });
    }
    EXPECT_EQ(dataset.use_count(), 1);
    EXPECT_EQ(dataset->reads, 2);
}

TEST(BatchLoader, NeedsADepth) {
    expect_error(ExitCode::usage, "data.prefetch", [] {
        BatchLoader(images(4), endless_plans(DistributedSampler(4, 1, 3, false), 0, 1), {}, {}, {0});
    });
}

}  // namespace
}  // namespace mastic::data
