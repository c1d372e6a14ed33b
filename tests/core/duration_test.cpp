#include <mastic/core/duration.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace mastic {
namespace {

constexpr double minute = 60, hour = 3600, day = 86400;

TEST(ParseSlurmTime, ReadsEachForm) {
    const std::vector<std::pair<std::string, double>> cases{
        {"90", 90 * minute},
        {"4:00", 4 * minute},
        {"4:05", 4 * minute + 5},
        {"0:30", 30},
        {"90:00", 90 * minute},
        {"1:30:00", 1.5 * hour},
        {"00:00:01", 1},
        {"2-12", 60 * hour},
        {"1-0", day},
        {"1-12:30", 36.5 * hour},
        {"1-12:00:00", 36 * hour},
        {"0-0:0:7", 7},
        {" 5 ", 5 * minute},
        {"104166-16", 104166 * day + 16 * hour},
    };
    for (const auto& [text, seconds] : cases) {
        const auto span = parse_slurm_time(text);
        ASSERT_TRUE(span.has_value()) << text;
        EXPECT_EQ(span->count(), seconds) << text;
    }
}

TEST(ParseSlurmTime, KnowsNoLimit) {
    for (const std::string text :
         {"0", "0:00", "0-0", "00:00:00", "UNLIMITED", "unlimited", "INFINITE", " Infinite "}) {
        EXPECT_EQ(parse_slurm_time(text), std::nullopt) << text;
    }
}

// Text, column of the caret.
const std::vector<std::pair<std::string, std::size_t>> wrong_slurm_times{
    {"", 0},        {"  ", 2},        {"abc", 0},  {"4:", 2},         {":4", 0},       {"1:2x", 3},
    {"1:2:3:4", 5}, {"1-2:3:4:5", 7}, {"1-", 2},   {"-1", 0},         {"1-2-3", 3},    {"1:2-3", 3},
    {"1::2", 2},    {"1.5", 1},       {"4 00", 2}, {"UNLIMITEDX", 0}, {"1-12:00:", 8}, {"+4", 0},
};

TEST(ParseSlurmTime, PutsACaretUnderTheFirstWrongCharacter) {
    for (const auto& [text, column] : wrong_slurm_times) {
        SCOPED_TRACE("\"" + text + "\"");
        const std::string pointed = "\n    " + text + "\n    " + std::string(column, ' ') + "^\n";
        test::expect_error(ExitCode::usage, pointed, [&] { parse_slurm_time(text); });
    }
}

TEST(ParseSlurmTime, RefusesWhatIsTooLong) {
    for (const std::string text : {"150000001", "104166-17", "99999999999999999999", "1-99999999999"}) {
        test::expect_error(ExitCode::usage, "longer than 285 years", [&] { parse_slurm_time(text); });
    }
    test::expect_error(ExitCode::usage, "longer than 285 years",
                       [] { parse_slurm_time(std::string(500, '9')); });
}

TEST(ParseDuration, ReadsSecondsUnitsAndSlurmForms) {
    const std::vector<std::pair<std::string, double>> cases{
        {"90", 90},           {"0.5", 0.5},       {"0", 0},      {"250ms", 0.25},   {"1ms", 0.001},
        {"30s", 30},          {"10m", 600},       {"10M", 600},  {"2h", 7200},      {"1d", day},
        {"1.5h", 1.5 * hour}, {" 3s ", 3},        {"4:00", 240}, {"1:30:00", 5400}, {"2-12", 60 * hour},
        {"0:00", 0},          {"0.0001", 0.0001},
    };
    for (const auto& [text, seconds] : cases) {
        EXPECT_EQ(parse_duration(text).count(), seconds) << text;
    }
}

TEST(ParseDuration, PutsACaretUnderTheFirstWrongCharacter) {
    const std::vector<std::pair<std::string, std::size_t>> cases{
        {"", 0},   {"s", 0},     {"-5", 0},   {"5x", 1},     {"5 s", 1}, {"1e3", 1}, {"5.", 2},
        {".5", 0}, {"1h30m", 1}, {"5sec", 1}, {"1.5:00", 1}, {"inf", 0}, {"nan", 0}, {"UNLIMITED", 0},
    };
    for (const auto& [text, column] : cases) {
        SCOPED_TRACE("\"" + text + "\"");
        const std::string pointed = "\n    " + text + "\n    " + std::string(column, ' ') + "^\n";
        test::expect_error(ExitCode::usage, pointed, [&] { parse_duration(text); });
    }
}

TEST(ParseDuration, AcceptsNothingLongerThanNanosecondsCanHold) {
    EXPECT_EQ(parse_duration("9000000000"), longest_span);
    EXPECT_LT(longest_span, std::chrono::nanoseconds::max());
    for (const std::string text : {"9000000001", "104167d", "99999999999999999999h"}) {
        test::expect_error(ExitCode::usage, "longer than 285 years", [&] { parse_duration(text); });
    }
    test::expect_error(ExitCode::usage, "longer than 285 years",
                       [] { parse_duration(std::string(500, '9')); });
}

TEST(SecondsToString, ReadsBackExactly) {
    const std::vector<std::pair<double, std::string>> cases{
        {0, "0s"},         {90, "90s"},     {600, "10m"},        {3600, "1h"},
        {5400, "90m"},     {129600, "36h"}, {172800, "2d"},      {0.25, "250ms"},
        {0.001, "1ms"},    {1.5, "1500ms"}, {0.0001, "0.0001s"}, {1.0 / 3, "0.3333333333333333s"},
        {9e9, "2500000h"},
    };
    for (const auto& [seconds, expected] : cases) {
        EXPECT_EQ(to_string(Seconds(seconds)), expected);
        EXPECT_EQ(parse_duration(expected).count(), seconds) << expected;
    }
}

TEST(HumanSeconds, ChoosesTheUnit) {
    const std::vector<std::pair<double, std::string>> cases{
        {0, "0 s"},
        {35e-6, "35 us"},
        {0.00123, "1.2 ms"},
        {0.82, "820 ms"},
        {0.9996, "1.0 s"},
        {12.34, "12.3 s"},
        {59.94, "59.9 s"},
        {59.96, "1 min 00 s"},
        {245, "4 min 05 s"},
        {3599.6, "1 h 00 min"},
        {7800, "2 h 10 min"},
        {86399, "1 d 0 h"},
        {129600, "1 d 12 h"},
        {-12.34, "-12.3 s"},
        {std::numeric_limits<double>::infinity(), "unlimited"},
    };
    for (const auto& [seconds, expected] : cases) {
        EXPECT_EQ(human(Seconds(seconds)), expected) << seconds;
    }
}

}  // namespace
}  // namespace mastic
