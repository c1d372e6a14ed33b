#include <gtest/gtest.h>

#include <mastic/data/npy_file.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using mastic::test::TempDir;
using test::npy_file;
using test::raw;
using test::values_of;

// Stored as From with the type code, delivered as To.
template <class From, class To>
void expect_read(const std::string& code, DataType type, const std::vector<From>& stored) {
    const TempDir directory;
    const std::vector<To> expected(stored.begin(), stored.end());
    for (const bool big_endian : {false, true}) {
        const auto order = sizeof(From) == 1 ? "|" : big_endian ? ">" : "<";
        const auto array = read_npy_file(
            directory.write("a.npy", npy_file(order + code, "(2, 2)", raw(stored, big_endian))));
        EXPECT_EQ(array.type, type) << code;
        EXPECT_EQ(array.shape, (Shape{2, 2})) << code;
        EXPECT_EQ(values_of<To>(array), expected) << order << code;
    }
}

TEST(NpyFile, ReadsEveryElementTypeInBothByteOrders) {
    expect_read<float, float>("f4", DataType::float32, {1.5f, -2, 3e20f, 0});
    expect_read<double, double>("f8", DataType::float64, {1.5, -2, 3e200, 0});
    expect_read<std::uint16_t, std::uint16_t>("f2", DataType::float16, {0x3C00, 0xC000, 1, 0x7BFF});
    expect_read<std::int8_t, std::int8_t>("i1", DataType::int8, {1, -128, 127, 0});
    expect_read<std::int16_t, std::int16_t>("i2", DataType::int16, {258, -32768, 127, 0});
    expect_read<std::int32_t, std::int32_t>("i4", DataType::int32, {16909060, -7, 127, 0});
    expect_read<std::int64_t, std::int64_t>("i8", DataType::int64, {1ll << 60, -7, 127, 0});
    expect_read<std::uint8_t, std::uint8_t>("u1", DataType::uint8, {255, 1, 127, 0});
    expect_read<std::uint8_t, std::uint8_t>("b1", DataType::boolean, {1, 0, 0, 1});
}

TEST(NpyFile, UnsignedIntegersAreWidened) {
    expect_read<std::uint16_t, std::int32_t>("u2", DataType::int32, {65535, 1, 127, 0});
    expect_read<std::uint32_t, std::int64_t>("u4", DataType::int64, {4294967295u, 1, 127, 0});
    expect_read<std::uint64_t, std::int64_t>("u8", DataType::int64, {1ull << 62, 1, 127, 0});
    const TempDir directory;
    const auto path = directory.write("a.npy", npy_file("<u8", "(2,)", raw<std::uint64_t>({1, 1ull << 63})));
    expect_error(ExitCode::data, "element 1 (9223372036854775808) does not fit",
                 [&] { read_npy_file(path); });
}

TEST(NpyFile, ReadsVersions1To3) {
    const TempDir directory;
    for (const int version : {1, 2, 3}) {
        const auto array = read_npy_file(
            directory.write("a.npy", npy_file("<i2", "(3,)", raw<std::int16_t>({1, 2, 3}), false, version)));
        EXPECT_EQ(values_of<std::int16_t>(array), (std::vector<std::int16_t>{1, 2, 3})) << version;
    }
    const auto path = directory.write("a.npy", npy_file("<i2", "(3,)", "abcdef", false, 4));
    expect_error(ExitCode::data, "unknown version 4", [&] { read_npy_file(path); });
}

TEST(NpyFile, FortranOrderBecomesRowMajor) {
    const TempDir directory;
    // a[i][j][k] = 100 i + 10 j + k, first index fastest.
    std::vector<std::int32_t> stored;
    std::vector<std::int32_t> expected;
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 2; ++i) stored.push_back(100 * i + 10 * j + k);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
    for (const bool big_endian : {false, true}) {
        const auto array = read_npy_file(directory.write(
            "a.npy", npy_file(big_endian ? ">i4" : "<i4", "(2, 3, 4)", raw(stored, big_endian), true)));
        EXPECT_EQ(array.shape, (Shape{2, 3, 4}));
        EXPECT_EQ(values_of<std::int32_t>(array), expected);
    }
}

TEST(NpyFile, ShapesOfAllFormsAreUnderstood) {
    const TempDir directory;
    const auto shape = [&](const std::string& text, int count) {
        return read_npy_file(directory.write("a.npy", npy_file("|u1", text, std::string(count, 'x')))).shape;
    };
    EXPECT_EQ(shape("()", 1), Shape{});
    EXPECT_EQ(shape("(3,)", 3), Shape{3});
    EXPECT_EQ(shape("(3L, 2L)", 6), (Shape{3, 2}));
    EXPECT_EQ(shape("(0, 7)", 0), (Shape{0, 7}));
}

struct BadFile {
    const char* name;
    std::string content;
    const char* message;
};

class RefusedNpy : public ::testing::TestWithParam<BadFile> {};

TEST_P(RefusedNpy, SaysWhatWasFound) {
    const TempDir directory;
    const auto path = directory.write("inputs.npy", GetParam().content);
    expect_error(ExitCode::data, GetParam().message, [&] { read_npy_file(path); });
    expect_error(ExitCode::data, path.string(), [&] { read_npy_file(path); });
}

const std::string small = npy_file("<f4", "(2, 3)", std::string(24, 'x'));

std::string with_header(const std::string& header) {
    return std::string("\x93NUMPY\x01\0", 8) +
           raw<std::uint16_t>({static_cast<std::uint16_t>(header.size())}) + header;
}

INSTANTIATE_TEST_SUITE_P(
    Content, RefusedNpy,
    ::testing::Values(
        BadFile{"Empty", "", "is empty"}, BadFile{"WebPage", "<html><head>", "looks like a web page"},
        BadFile{"Objects", npy_file("|O", "(2,)", "xxxxxxxxxxxxxxxx"), "Python objects"},
        BadFile{"Strings", npy_file("<U8", "(2,)", std::string(64, 'x')), "NumPy type '<U8'"},
        BadFile{"LongDouble", npy_file("<f16", "(2,)", std::string(32, 'x')), "NumPy type '<f16'"},
        BadFile{"Complex", npy_file("<c8", "(2,)", std::string(16, 'x')), "NumPy type '<c8'"},
        BadFile{"Structured", with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
                "structured array"},
        BadFile{"CutInTheMagic", small.substr(0, 9), "ends inside the .npy header"},
        BadFile{"CutInTheHeader", small.substr(0, 60), "ends inside the .npy header"},
        BadFile{"CutInTheData", small.substr(0, small.size() - 1), "there are only 151"},
        BadFile{"MoreThanPromised", small + "x", "there is more data"},
        BadFile{"HugeHeader", std::string("\x93NUMPY\x02\0\xff\xff\xff\x7f{'descr'", 20),
                "claims 2147483647 bytes"},
        BadFile{"HugeShape", npy_file("<f4", "(1000000000, 1000000)", "abcd"), "there are only"},
        BadFile{"Overflow", npy_file("<f4", "(9000000000000000000, 3)", "abcd"), "more than 2^62 bytes"},
        BadFile{"TooLargeExtent", npy_file("<f4", "(99999999999999999999,)", "abcd"), "no number"},
        BadFile{"NegativeExtent", npy_file("<f4", "(-3,)", "abcd"), "no number"},
        BadFile{"NoShape", with_header("{'descr': '<f4', 'fortran_order': False}"), "must have the keys"},
        BadFile{"NoDictionary", with_header("descr = <f4"), "'{' is missing"},
        BadFile{"OpenQuote", with_header("{'descr': '<f4"), "a quote is not closed"},
        BadFile{"UnknownKey", with_header("{'colour': 'red'}"), "unknown key 'colour'"}),
    [](const auto& test) { return test.param.name; });

TEST(NpyFile, DamageNeverCrashes) {
    const auto content = npy_file(">u4", "(10, 20)", std::string(800, 'x'), true);
    EXPECT_GT(test::feed_damaged(content, 1000, read_npy_file), 500);
}

}  // namespace
}  // namespace mastic::data
