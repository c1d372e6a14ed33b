#include <mastic/core/bytes.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace mastic {
namespace {

constexpr std::uint64_t kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024, tebi = gibi * 1024;
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(ParseBytes, ReadsNumbersAndUnits) {
    const std::vector<std::pair<std::string, std::uint64_t>> cases{
        {"0", 0},
        {"4096", 4096},
        {"007", 7},
        {"10B", 10},
        {"10b", 10},
        {"64K", 64 * kibi},
        {"64k", 64 * kibi},
        {"64KB", 64 * kibi},
        {"64KiB", 64 * kibi},
        {"64kib", 64 * kibi},
        {" 2M\t", 2 * mebi},
        {"1.5G", gibi + gibi / 2},
        {"0.5K", 512},
        {"1.0", 1},
        {"1.000K", kibi},
        {"0.0009765625K", 1},
        {"3T", 3 * tebi},
        {"18446744073709551615", largest},
        {"16777215.99999904632568359375T", largest - mebi + 1},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_EQ(parse_bytes(text).count, expected) << text;
    }
}

TEST(ParseBytes, RefusesWhatIsNotASize) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "a number is expected first"},
        {"   ", "a number is expected first"},
        {"K", "a number is expected first"},
        {"-1", "a number is expected first"},
        {"+1", "a number is expected first"},
        {".5G", "a number is expected first"},
        {"0x10", "unknown unit \"x10\""},
        {"1e3", "unknown unit \"e3\""},
        {"5.", "digits are expected after the point"},
        {"5.K", "digits are expected after the point"},
        {"1.2.3", "unknown unit \".3\""},
        {"64 K", "unknown unit \" K\""},
        {"64KK", "unknown unit \"KK\""},
        {"64iB", "unknown unit \"iB\""},
        {"64X", "unknown unit \"X\""},
        {"64Ki", "unknown unit \"Ki\""},
        {"1,5G", "unknown unit \",5G\""},
        {"0.5", "not a whole number of bytes"},
        {"0.3K", "not a whole number of bytes"},
        {"18446744073709551616", "2^64 bytes or more"},
        {"99999999999999999999999", "2^64 bytes or more"},
        {"16777216T", "2^64 bytes or more"},
        {"18014398509481984K", "2^64 bytes or more"},
    };
    for (const auto& [text, reason] : cases) {
        SCOPED_TRACE(text);
        test::expect_error(ExitCode::usage, "\"" + text + "\" is not a size: ", [&] { parse_bytes(text); });
        test::expect_error(ExitCode::usage, reason, [&] { parse_bytes(text); });
    }
}

TEST(BytesToString, IsShortAndReadsBackExactly) {
    const std::vector<std::pair<std::uint64_t, std::string>> cases{
        {0, "0"},           {1, "1"},
        {1000, "1000"},     {1024, "1K"},
        {1025, "1025"},     {1536, "1.5K"},
        {65536, "64K"},     {3 * gibi / 2, "1.5G"},
        {tebi, "1T"},       {5000 * tebi, "5000T"},
        {gibi / 2, "512M"}, {largest, "18446744073709551615"},
    };
    for (const auto& [count, expected] : cases) {
        EXPECT_EQ(to_string(Bytes{count}), expected);
        EXPECT_EQ(parse_bytes(expected).count, count);
    }
}

TEST(BytesToString, ReadsBackAroundEveryPowerOfTwo) {
    for (unsigned shift = 0; shift < 64; ++shift) {
        for (const std::uint64_t delta : {-1, 0, 1}) {
            const Bytes size{(std::uint64_t{1} << shift) + delta};
            EXPECT_EQ(parse_bytes(to_string(size)), size) << to_string(size);
        }
    }
}

TEST(HumanBytes, HasAtMostFourCharactersAndAUnit) {
    const std::vector<std::pair<std::uint64_t, std::string>> cases{
        {0, "0 B"},
        {512, "512 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {gibi * 14 / 10, "1.4 GiB"},
        {99 * mebi, "99.0 MiB"},
        {100 * mebi - 1, "100 MiB"},
        {1023 * kibi, "1023 KiB"},
        {mebi - 1, "1.0 MiB"},
        {largest, "16.0 EiB"},
    };
    for (const auto& [count, expected] : cases) {
        EXPECT_EQ(human(Bytes{count}), expected);
    }
}

}  // namespace
}  // namespace mastic
