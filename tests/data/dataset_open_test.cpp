#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include <mastic/data/dataset_open.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using test::gzip;
using test::idx_file;
using test::npy_file;
using test::raw;
using test::values_of;

class OpenDataset : public ::testing::Test {
  protected:
    std::string write(const std::string& name, const std::string& content) {
        return directory_.write(name, content).string();
    }
    DatasetOptions classify(const std::string& inputs, const std::string& targets) {
        DatasetOptions options;
        options.inputs = write("inputs", inputs);
        options.targets = targets.empty() ? "" : write("targets", targets);
        return options;
    }
    DatasetOptions next_token(const std::string& inputs, std::int64_t length) {
        DatasetOptions options;
        options.task = "next-token";
        options.inputs = write("inputs", inputs);
        options.sequence_length = length;
        return options;
    }
    static Batch read(const Dataset& dataset, const std::vector<std::uint64_t>& ids) {
        Batch batch;
        dataset.read(ids, batch);
        return batch;
    }

    mastic::test::TempDir directory_;
    const std::string images_ =
        idx_file(0x08, {3, 2, 2}, std::string("\0\1\2\3\4\5\6\7\xff\xff\xff\xff", 12));
    const std::string labels_ = idx_file(0x08, {3}, std::string("\2\0\1", 3));
};

TEST_F(OpenDataset, IdxImagesGetAChannelAndClassesAreCounted) {
    auto options = classify(gzip(images_), labels_);
    const auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->size(), 3u);
    EXPECT_EQ(dataset->layout().input_shape, (Shape{1, 2, 2}));
    EXPECT_EQ(dataset->layout().input_type, DataType::float32);
    EXPECT_EQ(dataset->layout().classes, 3);
    EXPECT_EQ(dataset->description(), "3 images 1x2x2, 3 classes, from inputs");
    const auto batch = read(*dataset, {2, 0, 2});
    EXPECT_EQ(batch.count, 3u);
    EXPECT_EQ(batch.ids, (std::vector<std::uint64_t>{2, 0, 2}));
    const float unit = 1.0f / 255;
    EXPECT_EQ(values_of<float>(batch.inputs),
              (std::vector<float>{1, 1, 1, 1, 0, unit, 2 * unit, 3 * unit, 1, 1, 1, 1}));
    EXPECT_EQ(values_of<std::int64_t>(batch.targets), (std::vector<std::int64_t>{1, 2, 1}));
}

TEST_F(OpenDataset, InputsAndTargetsMayBeOfDifferentFormats) {
    auto options = classify(npy_file("<f4", "(2, 3)", raw<float>({1, 2, 3, 4, 5, 6})),
                            idx_file(0x0C, {2}, raw<int>({1, 0}, true)));
    const auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->layout().input_shape, Shape{3});
    const auto batch = read(*dataset, {1});
    EXPECT_EQ(values_of<float>(batch.inputs), (std::vector<float>{4, 5, 6}));
    EXPECT_EQ(values_of<std::int64_t>(batch.targets), (std::vector<std::int64_t>{0}));
}

TEST_F(OpenDataset, TablesHoldInputsAndTargets) {
    auto options = classify("x,label,y\n1,0,2\n3,1,4\n", "");
    options.target_name = "label";
    auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->layout().classes, 2);
    EXPECT_EQ(values_of<float>(read(*dataset, {1}).inputs), (std::vector<float>{3, 4}));
    EXPECT_EQ(values_of<std::int64_t>(read(*dataset, {1}).targets), (std::vector<std::int64_t>{1}));

    options.target_name = DatasetOptions().target_name;
    options.task = "regress";
    dataset = open_dataset(options);
    EXPECT_EQ(dataset->layout().target_shape, Shape{1});
    EXPECT_EQ(dataset->layout().target_type, DataType::float32);
    EXPECT_EQ(dataset->layout().classes, 0);
    EXPECT_EQ(values_of<float>(read(*dataset, {1}).inputs), (std::vector<float>{3, 1}));
    EXPECT_EQ(values_of<float>(read(*dataset, {1}).targets), (std::vector<float>{4}));
}

TEST_F(OpenDataset, PredictionNeedsNoTargets) {
    auto options = classify(images_, "");
    options.with_targets = false;
    const auto batch = read(*open_dataset(options), {0, 1});
    EXPECT_EQ(batch.inputs.size(), 2 * 4 * sizeof(float));
    EXPECT_TRUE(batch.targets.empty());

    auto table = classify("x,y\n1,2\n3,4\n", "");
    table.with_targets = false;
    EXPECT_EQ(open_dataset(table)->layout().input_shape, Shape{2});
    table.target_name = "y";
    EXPECT_EQ(open_dataset(table)->layout().input_shape, Shape{1});
}

TEST_F(OpenDataset, RegressionTargetsMayHaveAnyShape) {
    auto options = classify(npy_file("<f8", "(2, 1)", raw<double>({1, 2})),
                            npy_file("<f4", "(2, 2, 1)", raw<float>({1, 2, 3, 4})));
    options.task = "regress";
    const auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->layout().target_shape, (Shape{2, 1}));
    EXPECT_EQ(values_of<float>(read(*dataset, {1}).targets), (std::vector<float>{3, 4}));
}

TEST_F(OpenDataset, ShapeLimitAndClassesCanBeSet) {
    auto options = classify(images_, labels_);
    options.input_shape = {4};
    options.limit = 2;
    options.classes = 10;
    options.mean = {1, 2, 3, 4};
    options.scale = false;
    auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->size(), 2u);
    EXPECT_EQ(dataset->layout().classes, 10);
    EXPECT_EQ(values_of<float>(read(*dataset, {1}).inputs), (std::vector<float>{3, 3, 3, 3}));
    expect_error(ExitCode::data, "sample 2 was asked for, the data set has 2", [&] { read(*dataset, {2}); });
    // The largest label counts even if its sample is not used, so that the model stays the same.
    options.classes = 0;
    options.limit = 2;
    options.targets = write("targets", idx_file(0x08, {3}, std::string("\0\1\7", 3)));
    EXPECT_EQ(open_dataset(options)->layout().classes, 8);
    options.input_shape = {5};
    expect_error(ExitCode::usage, "data.input_shape 5 does not hold one sample",
                 [&] { open_dataset(options); });
}

TEST_F(OpenDataset, MismatchedOrWrongDataIsRefused) {
    const auto three = npy_file("<f4", "(3, 1)", raw<float>({1, 2, 3}));
    const auto refuse = [&](const std::string& inputs, const std::string& targets, const char* message) {
        const auto options = classify(inputs, targets);
        expect_error(ExitCode::data, message, [&] { open_dataset(options); });
    };
    refuse(three, idx_file(0x08, {2}, "ab"), "has 3 samples, but there are 2 targets");
    refuse(three, npy_file("<f4", "(3,)", raw<float>({0, 1.5, 2})), "sample 1 has the label 1.5");
    refuse(three, npy_file("<i8", "(3,)", raw<std::int64_t>({0, 1, -1})), "sample 2 has the label -1");
    refuse(three, npy_file("<f4", "(3,)", raw<float>({NAN, 1, 1})), "sample 0 has the label nan");
    refuse(three, npy_file("<f4", "(3, 2)", raw<float>({0, 1, 1, 0, 0, 1})), "need one number per sample");
    refuse(npy_file("<f4", "(3, 1)", raw<float>({1, NAN, 3})), labels_, "sample 1 of 3 samples 1");
    refuse(npy_file("<f8", "(3, 1)", raw<double>({1, 2, 1e300})), labels_, "sample 2 of 3 samples 1");
    refuse(npy_file("<f2", "(3, 1)", raw<std::uint16_t>({0xFC00, 0, 0})), labels_, "is not finite");
    refuse(idx_file(0x08, {0, 2, 2}, ""), idx_file(0x08, {0}, ""), "holds no samples");
    refuse("<html><body>", labels_, "looks like a web page");
    refuse("a,b\n", "", "holds no samples");
    refuse(std::string("\x01\x02\x00", 3), labels_, "not a known format");

    auto options = classify(three, idx_file(0x08, {3}, std::string("\0\3\2", 3)));
    options.classes = 3;
    expect_error(ExitCode::data, "sample 1 has the label 3, not a whole number in 0..2",
                 [&] { open_dataset(options); });
    options.task = "regress";
    options.targets = write("targets", npy_file("<f4", "(3,)", raw<float>({0, INFINITY, 2})));
    expect_error(ExitCode::data, "the target of sample 1 is not finite", [&] { open_dataset(options); });
}

TEST_F(OpenDataset, OptionsThatDoNotFitAreRefused) {
    auto options = classify(images_, "");
    expect_error(ExitCode::usage, "data.train_targets", [&] { open_dataset(options); });
    options.format = "ixd";
    expect_error(ExitCode::usage, "did you mean 'idx'?", [&] { open_dataset(options); });
    options.format = "auto";
    options.task = "guess";
    expect_error(ExitCode::usage, "data.task: 'guess' is none of classify", [&] { open_dataset(options); });
    expect_error(ExitCode::usage, "data.inputs is not set", [] { open_dataset({}); });
}

TEST_F(OpenDataset, TextIsAStreamOfBytesForNextToken) {
    const auto dataset = open_dataset(next_token("abcdefghij", 3));
    EXPECT_EQ(dataset->size(), 3u);
    EXPECT_EQ(dataset->layout().classes, 256);
    EXPECT_EQ(dataset->layout().input_type, DataType::int64);
    EXPECT_EQ(dataset->layout().input_shape, Shape{3});
    EXPECT_EQ(dataset->layout().target_shape, Shape{3});
    const auto batch = read(*dataset, {2, 0});
    EXPECT_EQ(values_of<std::int64_t>(batch.inputs),
              (std::vector<std::int64_t>{'g', 'h', 'i', 'a', 'b', 'c'}));
    EXPECT_EQ(values_of<std::int64_t>(batch.targets),
              (std::vector<std::int64_t>{'h', 'i', 'j', 'b', 'c', 'd'}));
}

TEST_F(OpenDataset, RowsOfTokensAreWindows) {
    auto options = next_token(npy_file("<u2", "(2, 4)", raw<std::uint16_t>({1, 2, 3, 4, 5, 6, 7, 300})), 128);
    const auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->layout().classes, 301);
    EXPECT_EQ(values_of<std::int64_t>(read(*dataset, {1}).inputs), (std::vector<std::int64_t>{5, 6, 7}));
    EXPECT_EQ(values_of<std::int64_t>(read(*dataset, {1}).targets), (std::vector<std::int64_t>{6, 7, 300}));
    options.limit = 1;
    EXPECT_EQ(open_dataset(options)->size(), 1u);
    options.classes = 300;
    expect_error(ExitCode::data, "sample 1 has the token 300, outside of 0..299",
                 [&] { open_dataset(options); });
}

TEST_F(OpenDataset, TokensThatCannotBeUsedAreRefused) {
    const auto refuse = [&](const std::string& inputs, std::int64_t length, ExitCode code,
                            const char* message) {
        const auto options = next_token(inputs, length);
        expect_error(code, message, [&] { open_dataset(options); });
    };
    refuse("abc", 3, ExitCode::data, "3 tokens are fewer than one sequence of 3");
    refuse("abc", 0, ExitCode::usage, "data.sequence_length");
    refuse(npy_file("<f4", "(4,)", raw<float>({0, 1, 2, 3})), 2, ExitCode::data,
           "holds float32 where integers are needed");
    refuse(npy_file("<i4", "(4,)", raw<int>({0, 1, -2, 3})), 2, ExitCode::data, "token 2 has the token -2");
    refuse(npy_file("<i4", "(2, 1)", raw<int>({0, 1})), 2, ExitCode::data, "holds no sequences");
    refuse(npy_file("<i4", "(1, 2, 2)", raw<int>({0, 1, 2, 3})), 2, ExitCode::data, "one or two dimensions");
}

TEST_F(OpenDataset, SyntheticDataNeedsNoFile) {
    DatasetOptions options;
    options.format = "synthetic";
    options.limit = 12;
    EXPECT_EQ(open_dataset(options)->size(), 12u);
    EXPECT_EQ(open_dataset(options)->layout().input_shape, (Shape{1, 28, 28}));
    options.task = "next-token";
    EXPECT_EQ(open_dataset(options)->layout().input_type, DataType::int64);
    options.task = "regress";
    EXPECT_EQ(open_dataset(options)->layout().target_type, DataType::float32);
}

TEST_F(OpenDataset, FashionMnistIsWhole) {
    const std::filesystem::path directory = "/usr/share/datasets/fashion-mnist";
    if (!std::filesystem::exists(directory)) {
        GTEST_SKIP() << "install the Debian package dataset-fashion-mnist";
    }
    DatasetOptions options;
    options.inputs = directory / "t10k-images-idx3-ubyte.gz";
    options.targets = directory / "t10k-labels-idx1-ubyte.gz";
    const auto dataset = open_dataset(options);
    EXPECT_EQ(dataset->description(), "10000 images 1x28x28, 10 classes, from t10k-images-idx3-ubyte.gz");
    std::vector<std::uint64_t> ids(10000);
    std::iota(ids.begin(), ids.end(), 0);
    const auto batch = read(*dataset, ids);
    const auto pixels = values_of<float>(batch.inputs);
    const double mean =
        std::accumulate(pixels.begin(), pixels.end(), 0.0) / static_cast<double>(pixels.size());
    EXPECT_NEAR(mean, 0.2868, 0.0005);
}

}  // namespace
}  // namespace mastic::data
