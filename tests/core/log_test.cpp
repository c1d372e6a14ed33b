#include <mastic/core/log.hpp>

#include <string>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <mastic/core/file.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class Log : public testing::Test {
  protected:
    ~Log() override { setup_log({}); }

    LogOptions options_for(int rank, const std::string& level = "info") const {
        return {.rank = rank, .world_size = 4, .file = directory_ / "rank.log", .level = level};
    }
    std::string file() const { return read_text_file(directory_ / "rank.log"); }

    test::TempDir directory_;
};

TEST_F(Log, RankZeroSpeaksOnStandardErrorWithoutColourInAFile) {
    CaptureStderr();
    setup_log({});
    spdlog::info("hello {}", 42);
    spdlog::debug("not at this level");
    const auto text = GetCapturedStderr();
    EXPECT_NE(text.find("info    hello 42\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("not at this level"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST_F(Log, OtherRanksOnlyWarnThereAndSayWhoTheyAre) {
    CaptureStderr();
    setup_log(options_for(3));
    spdlog::info("quiet");
    spdlog::warn("loud");
    const auto text = GetCapturedStderr();
    EXPECT_EQ(text.find("quiet"), std::string::npos) << text;
    EXPECT_NE(text.find("[rank 3] loud\n"), std::string::npos) << text;
    EXPECT_NE(file().find("[rank 3/4] quiet\n"), std::string::npos) << file();
    EXPECT_NE(file().find("[rank 3/4] loud\n"), std::string::npos) << file();
}

TEST_F(Log, AppendsToTheFileAndFlushesAtOnce) {
    directory_.write("rank.log", "from an earlier run\n");
    CaptureStderr();
    setup_log(options_for(1));
    spdlog::info("one");
    const auto after_one = file();
    setup_log(options_for(1));
    spdlog::info("two");
    GetCapturedStderr();
    EXPECT_TRUE(after_one.starts_with("from an earlier run\n")) << after_one;
    EXPECT_NE(after_one.find("one\n"), std::string::npos);
    EXPECT_TRUE(file().starts_with(after_one));
    EXPECT_NE(file().find("two\n"), std::string::npos);
}

TEST_F(Log, ObeysTheLevel) {
    CaptureStderr();
    setup_log(options_for(1, "debug"));
    spdlog::debug("detail");
    setup_log(options_for(1, "off"));
    spdlog::error("silenced");
    GetCapturedStderr();
    spdlog::default_logger()->flush();
    EXPECT_NE(file().find("detail"), std::string::npos);
    EXPECT_EQ(file().find("silenced"), std::string::npos);
}

TEST_F(Log, RefusesUnknownLevelsAndUnwritableFiles) {
    test::expect_error(ExitCode::usage, "did you mean \"debug\"?",
                       [&] { setup_log(options_for(1, "debgu")); });
    test::expect_error(ExitCode::usage, "levels are trace, debug",
                       [&] { setup_log(options_for(1, "loudest")); });
    const auto blocker = directory_.write("file", "");
    test::expect_error(ExitCode::io, "cannot open the log file",
                       [&] { setup_log({.rank = 0, .world_size = 1, .file = blocker / "log"}); });
}

TEST_F(Log, IsNotOnATerminalWhenRedirected) {
    CaptureStderr();
    const bool redirected = on_terminal();
    GetCapturedStderr();
    EXPECT_FALSE(redirected);
}

}  // namespace
}  // namespace mastic
