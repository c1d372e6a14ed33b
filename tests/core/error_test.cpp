#include <mastic/core/error.hpp>

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace mastic {
namespace {

TEST(ExitCode, HasTheContractsNumbersAndNames) {
    const std::vector<std::tuple<ExitCode, int, std::string>> cases{
        {ExitCode::done, 0, "done"},
        {ExitCode::usage, 2, "usage"},
        {ExitCode::data, 3, "data"},
        {ExitCode::environment, 4, "environment"},
        {ExitCode::io, 5, "io"},
        {ExitCode::checkpoint, 6, "checkpoint"},
        {ExitCode::collective, 7, "collective"},
        {ExitCode::non_finite, 8, "non_finite"},
        {ExitCode::memory, 9, "memory"},
        {ExitCode::requeue, 75, "requeue"},
    };
    for (const auto& [code, number, name] : cases) {
        EXPECT_EQ(static_cast<int>(code), number);
        EXPECT_EQ(to_string(code), name);
    }
}

TEST(Error, CarriesCodeMessageAndHint) {
    const Error error(ExitCode::io, "disk full", "free some space");
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_STREQ(error.what(), "disk full");
    EXPECT_EQ(error.hint(), "free some space");
    EXPECT_EQ(error.full_message(), "disk full\n  hint: free some space");
}

TEST(Error, HasNoHintLineWithoutAHint) {
    EXPECT_EQ(Error(ExitCode::data, "3 rows").full_message(), "3 rows");
}

}  // namespace
}  // namespace mastic
