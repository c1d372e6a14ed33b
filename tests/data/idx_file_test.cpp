#include <gtest/gtest.h>

#include <filesystem>
#include <mastic/data/idx_file.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using mastic::test::TempDir;
using test::gzip;
using test::idx_file;
using test::raw;
using test::values_of;

constexpr int u8 = 0x08, i8 = 0x09, i16 = 0x0B, i32 = 0x0C, f32 = 0x0D, f64 = 0x0E;

template <class T>
void expect_round_trip(int code, DataType type, const std::vector<T>& values) {
    const TempDir directory;
    const auto count = static_cast<std::uint32_t>(values.size() / 2);
    const auto array = read_idx_file(directory.write("a", idx_file(code, {2, count}, raw(values, true))));
    EXPECT_EQ(array.type, type);
    EXPECT_EQ(array.shape, (Shape{2, count}));
    EXPECT_EQ(values_of<T>(array), values);
}

TEST(IdxFile, ReadsEveryElementType) {
    expect_round_trip<std::uint8_t>(u8, DataType::uint8, {0, 1, 128, 255});
    expect_round_trip<std::int8_t>(i8, DataType::int8, {0, 1, -128, 127});
    expect_round_trip<std::int16_t>(i16, DataType::int16, {0, 258, -32768, 32767});
    expect_round_trip<std::int32_t>(i32, DataType::int32, {0, 16909060, -5, 2147483647});
    expect_round_trip<float>(f32, DataType::float32, {0.5f, -1.25f, 3e20f, 1e-30f});
    expect_round_trip<double>(f64, DataType::float64, {0.5, -1.25, 3e200, 1e-300});
}

TEST(IdxFile, GzipIsUndoneWhateverTheName) {
    const TempDir directory;
    std::string payload;
    for (unsigned i = 0; i < 300000; ++i) {
        payload += static_cast<char>(i * i >> 3);
    }
    const auto content = idx_file(u8, {300, 1000}, payload);
    for (const char* name : {"images.gz", "images-idx2-ubyte", "images.dat"}) {
        const auto array = read_idx_file(directory.write(name, gzip(content)));
        EXPECT_EQ(array.shape, (Shape{300, 1000}));
        EXPECT_EQ(raw(values_of<std::uint8_t>(array)), payload);
    }
}

TEST(IdxFile, GzipOfSeveralMembersIsOneFile) {
    const TempDir directory;
    const auto content = idx_file(u8, {6}, "abcdef");
    const auto array =
        read_idx_file(directory.write("a", gzip(content.substr(0, 9)) + gzip(content.substr(9))));
    EXPECT_EQ(raw(values_of<std::uint8_t>(array)), "abcdef");
}

struct BadFile {
    const char* name;
    std::string content;
    const char* message;
};

class RefusedIdx : public ::testing::TestWithParam<BadFile> {};

TEST_P(RefusedIdx, SaysWhatWasFound) {
    const TempDir directory;
    const auto path = directory.write("train-images", GetParam().content);
    expect_error(ExitCode::data, GetParam().message, [&] { read_idx_file(path); });
    expect_error(ExitCode::data, path.string(), [&] { read_idx_file(path); });
}

const std::string web_page = "<!DOCTYPE html>\n<html><body>404 Not Found</body></html>";
const std::string small = idx_file(u8, {2, 3}, "abcdef");

INSTANTIATE_TEST_SUITE_P(
    Content, RefusedIdx,
    ::testing::Values(
        BadFile{"Empty", "", "is empty"},
        BadFile{"WebPage", web_page, "starts with '<!DOCTYPE html>': looks like a web page"},
        BadFile{"GzipOfWebPage", gzip(web_page), "starts with '<!DOCTYPE html>': looks like a web page"},
        BadFile{"GzipOfGzip", gzip(gzip(small)), "looks like gzip data"},
        BadFile{"GitLfsPointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
                "Git LFS pointer"},
        BadFile{"Zip", "PK\x03\x04zip", "looks like a ZIP archive"},
        BadFile{"Text", "label,pixel\n1,2\n", "starts with 'label,pixel': looks like text"},
        BadFile{"Binary", "\x01\x02\x03\x04", "starts with the bytes 01 02 03 04"},
        BadFile{"UnknownType", std::string("\0\0\x0A\1\0\0\0\1a", 9), "no IDX file"},
        BadFile{"CutInTheHeader", small.substr(0, 10), "ends inside the IDX header"},
        BadFile{"CutInTheData", small.substr(0, 15),
                "promises 2x3 uint8 (18 bytes with the header), but there are only 15"},
        BadFile{"MoreThanPromised", small + "g", "there is more data"},
        BadFile{"GzipMoreThanPromised", gzip(small + "g"), "there is more data"},
        BadFile{"GzipLessThanPromised", gzip(small.substr(0, 15)), "there are only 15"},
        BadFile{"GzipCut", gzip(small).substr(0, gzip(small).size() - 3), "ends too early"},
        BadFile{"AfterTheGzip", gzip(small) + "rubbish", "7 bytes after the gzip data"},
        BadFile{"HugeCount", idx_file(u8, {4000000000u, 1000}, "abc"), "there are only 15"},
        BadFile{"GzipHugeCount", gzip(idx_file(u8, {4000000000u, 1000}, "abc")), "there are only 15"},
        BadFile{"Overflow", idx_file(f64, {4000000000u, 4000000000u, 4000000000u}, "abc"),
                "more than 2^62 bytes"}),
    [](const auto& test) { return test.param.name; });

TEST(IdxFile, AFlippedBitInGzipIsFoundByItsChecksum) {
    const TempDir directory;
    auto content = gzip(small);
    content[content.size() - 6] ^= 1;
    const auto path = directory.write("a", content);
    expect_error(ExitCode::data, "gzip data is damaged", [&] { read_idx_file(path); });
}

TEST(IdxFile, WhatIsNoFileIsNamed) {
    const TempDir directory;
    expect_error(ExitCode::data, "No such file", [&] { read_idx_file(directory / "missing"); });
    expect_error(ExitCode::data, "not a regular file", [&] { read_idx_file(directory.path()); });
}

TEST(IdxFile, DamageNeverCrashes) {
    std::vector<double> numbers(200, 0.25);
    const auto content = idx_file(f64, {10, 20}, raw(numbers, true));
    EXPECT_GT(test::feed_damaged(content, 600, read_idx_file), 300);
    EXPECT_GT(test::feed_damaged(gzip(content), 600, read_idx_file), 300);
}

TEST(IdxFile, ReadsFashionMnist) {
    const std::filesystem::path directory = "/usr/share/datasets/fashion-mnist";
    if (!std::filesystem::exists(directory)) {
        GTEST_SKIP() << "install the Debian package dataset-fashion-mnist";
    }
    const auto images = read_idx_file(directory / "train-images-idx3-ubyte.gz");
    EXPECT_EQ(images.type, DataType::uint8);
    EXPECT_EQ(images.shape, (Shape{60000, 28, 28}));
    const auto labels = read_idx_file(directory / "train-labels-idx1-ubyte.gz");
    std::vector<int> histogram(256, 0);
    for (const auto label : values_of<std::uint8_t>(labels)) {
        ++histogram[label];
    }
    std::vector<int> expected(256, 0);
    std::fill_n(expected.begin(), 10, 6000);
    EXPECT_EQ(histogram, expected);
}

}  // namespace
}  // namespace mastic::data
