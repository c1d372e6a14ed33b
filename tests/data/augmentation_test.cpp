#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <mastic/data/augmentation.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using test::values_of;

constexpr std::int64_t channels = 2, height = 3, width = 5;
constexpr std::size_t pixels = channels * height * width;

SampleLayout image_layout() {
    return {{channels, height, width}, DataType::float32, {}, DataType::int64, 10};
}

// The pixels of image `id` are 1, 2, 3, ...: all different and none zero.
Batch images(const std::vector<std::uint64_t>& ids) {
    Batch batch{ids.size(), ids, {}, {}};
    std::vector<float> values(ids.size() * pixels);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::iota(values.begin() + static_cast<std::ptrdiff_t>(i * pixels),
                  values.begin() + static_cast<std::ptrdiff_t>((i + 1) * pixels), 1.0f);
    }
    const auto bytes = std::as_bytes(std::span(values));
    batch.inputs.assign(bytes.begin(), bytes.end());
    return batch;
}

std::vector<float> augmented(const AugmentationOptions& options, const std::vector<std::uint64_t>& ids,
                             std::uint64_t epoch) {
    auto batch = images(ids);
    Augmentation(options, image_layout()).apply(batch, epoch);
    return values_of<float>(batch.inputs);
}

// The definition, pixel by pixel.
std::vector<float> moved(std::int64_t down, std::int64_t right, bool mirrored) {
    const auto original = values_of<float>(images({0}).inputs);
    std::vector<float> result;
    for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t y = 0; y < height; ++y) {
            for (std::int64_t x = 0; x < width; ++x) {
                const auto from_y = y + down;
                const auto from_x = (mirrored ? width - 1 - x : x) + right;
                const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
                const auto at = static_cast<std::size_t>((c * height + from_y) * width + from_x);
                result.push_back(inside ? original[at] : 0.0f);
            }
        }
    }
    return result;
}

TEST(Augmentation, EveryShiftAndFlipOccursAndNothingElse) {
    // The padding is larger than the image is high: some crops hold zeros only.
    for (const std::int64_t padding : {1, 4}) {
        std::set<std::vector<float>> expected;
        for (std::int64_t down = -padding; down <= padding; ++down) {
            for (std::int64_t right = -padding; right <= padding; ++right) {
                expected.insert(moved(down, right, false));
                expected.insert(moved(down, right, true));
            }
        }
        std::set<std::vector<float>> found;
        for (std::uint64_t id = 0; id < 4000; ++id) {
            found.insert(augmented({padding, true, 1}, {id}, 0));
        }
        EXPECT_EQ(found, expected);
    }
}

TEST(Augmentation, ASampleDoesNotDependOnItsBatch) {
    const AugmentationOptions options{2, true, 7};
    std::vector<std::uint64_t> ids(20);
    std::iota(ids.begin(), ids.end(), 100);
    const auto together = augmented(options, ids, 3);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto alone = augmented(options, {ids[i]}, 3);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                               together.begin() + static_cast<std::ptrdiff_t>(i * pixels)));
    }
}

TEST(Augmentation, EpochsAndSeedsDiffer) {
    std::vector<std::uint64_t> ids(20);
    std::iota(ids.begin(), ids.end(), 0);
    EXPECT_NE(augmented({2, true, 7}, ids, 0), augmented({2, true, 7}, ids, 1));
    EXPECT_NE(augmented({2, true, 7}, ids, 0), augmented({2, true, 8}, ids, 0));
}

TEST(Augmentation, NothingAskedNothingDone) {
    EXPECT_EQ(augmented({}, {1, 2, 3}, 0), values_of<float>(images({1, 2, 3}).inputs));
    Batch tokens;
    Augmentation({}, {{64}, DataType::int64, {64}, DataType::int64, 100}).apply(tokens, 0);
}

TEST(Augmentation, OnlyImagesCanBeCropped) {
    const SampleLayout tokens{{64}, DataType::int64, {64}, DataType::int64, 100};
    expect_error(ExitCode::usage, "need images", [&] { Augmentation({4, false, 0}, tokens); });
    expect_error(ExitCode::usage, "need images", [&] { Augmentation({0, true, 0}, tokens); });
    expect_error(ExitCode::usage, "negative", [&] { Augmentation({-1, true, 0}, image_layout()); });
}

}  // namespace
}  // namespace mastic::data
