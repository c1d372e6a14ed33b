#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include <mastic/data/array.hpp>
#include <mastic/data/synthetic_dataset.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using test::values_of;

const SampleLayout classes_layout{{1, 8, 8}, DataType::float32, {}, DataType::int64, 5};
const SampleLayout values_layout{{6}, DataType::float32, {2}, DataType::float32, 0};
const SampleLayout tokens_layout{{32}, DataType::int64, {32}, DataType::int64, 50};

Batch read_all(const Dataset& dataset) {
    std::vector<std::uint64_t> ids(dataset.size());
    std::iota(ids.begin(), ids.end(), 0);
    Batch batch;
    dataset.read(ids, batch);
    return batch;
}

TEST(SyntheticDataset, IsAFunctionOfSeedAndId) {
    for (const auto& layout : {classes_layout, values_layout, tokens_layout}) {
        const auto all = read_all(*make_synthetic_dataset({100, layout, 3}));
        const auto again = read_all(*make_synthetic_dataset({100, layout, 3}));
        const auto other = read_all(*make_synthetic_dataset({100, layout, 4}));
        EXPECT_EQ(all.inputs, again.inputs);
        EXPECT_EQ(all.targets, again.targets);
        EXPECT_NE(all.inputs, other.inputs);
        Batch one;
        const std::vector<std::uint64_t> id = {42};
        make_synthetic_dataset({100, layout, 3})->read(id, one);
        const auto stride = all.inputs.size() / 100;
        EXPECT_TRUE(std::equal(one.inputs.begin(), one.inputs.end(),
                               all.inputs.begin() + static_cast<long>(42 * stride)));
        // The first sample of a set that starts at 42 is the same sample.
        Batch shifted;
        const std::vector<std::uint64_t> first = {0};
        make_synthetic_dataset({100, layout, 3, 1.0f, 42})->read(first, shifted);
        EXPECT_EQ(shifted.inputs, one.inputs);
    }
}

TEST(SyntheticDataset, ClassesAreLearnable) {
    const auto batch = read_all(*make_synthetic_dataset({2000, classes_layout, 3}));
    const auto x = values_of<float>(batch.inputs);
    const auto y = values_of<std::int64_t>(batch.targets);
    // Nearest mean: the means of the first half, tried on the second.
    std::vector<double> mean(5 * 64, 0.0);
    std::vector<int> count(5, 0);
    for (std::size_t i = 0; i < 1000; ++i) {
        ++count[static_cast<std::size_t>(y[i])];
        for (std::size_t k = 0; k < 64; ++k) {
            mean[static_cast<std::size_t>(y[i]) * 64 + k] += x[i * 64 + k];
        }
    }
    int right = 0;
    for (std::size_t i = 1000; i < 2000; ++i) {
        std::vector<double> distance(5, 0.0);
        for (std::size_t c = 0; c < 5; ++c) {
            for (std::size_t k = 0; k < 64; ++k) {
                const double d = x[i * 64 + k] - mean[c * 64 + k] / count[c];
                distance[c] += d * d;
            }
        }
        right += std::min_element(distance.begin(), distance.end()) - distance.begin() == y[i] ? 1 : 0;
    }
    EXPECT_GT(right, 950);
}

TEST(SyntheticDataset, ValuesAreLinearInTheInputs) {
    const auto batch = read_all(*make_synthetic_dataset({50, values_layout, 3}));
    const auto x = values_of<float>(batch.inputs);
    const auto y = values_of<float>(batch.targets);
    EXPECT_EQ(y.size(), 100u);
    const auto [least, most] = std::minmax_element(y.begin(), y.end());
    EXPECT_LT(*least, -0.1f);
    EXPECT_GT(*most, 0.1f);
}

TEST(SyntheticDataset, TokensMostlyFollowATable) {
    const auto batch = read_all(*make_synthetic_dataset({500, tokens_layout, 3}));
    const auto x = values_of<std::int64_t>(batch.inputs);
    const auto y = values_of<std::int64_t>(batch.targets);
    std::map<std::int64_t, std::map<std::int64_t, int>> followers;
    for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_GE(x[i], 0);
        ASSERT_LT(x[i], 50);
        ++followers[x[i]][y[i]];
        if (i % 32 != 31) {
            ASSERT_EQ(y[i], x[i + 1]);
        }
    }
    std::size_t predicted = 0;
    for (const auto& [token, next] : followers) {
        predicted +=
            static_cast<std::size_t>(std::max_element(next.begin(), next.end(), [](auto& a, auto& b) {
                                         return a.second < b.second;
                                     })->second);
    }
    EXPECT_NEAR(static_cast<double>(predicted) / static_cast<double>(x.size()), 0.9, 0.02);
}

TEST(SyntheticDataset, OtherLayoutsAreRefused) {
    expect_error(ExitCode::usage, "layout", [] {
        make_synthetic_dataset({10, {{4}, DataType::int64, {}, DataType::int64, 10}});
    });
    const auto dataset = make_synthetic_dataset({10, classes_layout});
    Batch batch;
    const std::vector<std::uint64_t> ids = {10};
    expect_error(ExitCode::data, "sample 10 was asked for, the data set has 10",
                 [&] { dataset->read(ids, batch); });
}

}  // namespace
}  // namespace mastic::data
