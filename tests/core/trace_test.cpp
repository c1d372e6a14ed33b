#include <mastic/core/trace.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <mastic/core/file.hpp>
#include <mastic/core/log.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using Clock = Trace::Clock;

std::vector<json> events_of(const json& trace, const std::string& phase) {
    std::vector<json> events;
    for (const auto& event : trace) {
        if (event.at("ph") == phase) {
            events.push_back(event);
        }
    }
    return events;
}

TEST(Trace, IsAValidChromeTraceWhenFinished) {
    const test::TempDir directory;
    const auto begin = Clock::now();
    {
        Trace trace(directory / "trace.json", 3, "rank 3");
        trace.complete("train", "forward", begin, begin + microseconds(1500));
        trace.complete("train", "backward", begin + microseconds(1500), begin + microseconds(4000));
        trace.complete("communication", "bucket 0", begin + microseconds(2000), begin + microseconds(2250));
    }
    const auto trace = json::parse(read_text_file(directory / "trace.json"));
    const auto spans = events_of(trace, "X");
    ASSERT_EQ(spans.size(), 3u);
    EXPECT_EQ(spans[0].at("name"), "forward");
    EXPECT_EQ(spans[0].at("pid"), 3);
    EXPECT_DOUBLE_EQ(spans[0].at("dur").get<double>(), 1500);
    EXPECT_NEAR(spans[2].at("ts").get<double>() - spans[0].at("ts").get<double>(), 2000, 0.5);
    EXPECT_EQ(spans[0].at("tid"), spans[1].at("tid"));

    std::map<std::string, json> row_numbers;
    std::string process_name;
    for (const auto& event : events_of(trace, "M")) {
        const std::string name = event.at("args").at("name");
        if (event.at("name") == "process_name") {
            process_name = name;
        } else {
            row_numbers[name] = event.at("tid");
        }
    }
    EXPECT_EQ(process_name, "rank 3");
    ASSERT_EQ(row_numbers.size(), 2u);
    EXPECT_EQ(row_numbers.at("train"), spans[0].at("tid"));
    EXPECT_EQ(row_numbers.at("communication"), spans[2].at("tid"));
}

TEST(Trace, StampsTheTimeOfDaySoThatRanksLieSideBySide) {
    using std::chrono::system_clock;
    const test::TempDir directory;
    const auto count = [] {
        return static_cast<double>(
            std::chrono::duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
    };
    const double before = count();
    {
        Trace trace(directory / "trace.json", 0, "rank 0");
        trace.complete("row", "now", Clock::now(), Clock::now());
    }
    const double after = count();
    const auto spans = events_of(json::parse(read_text_file(directory / "trace.json")), "X");
    EXPECT_GE(spans.at(0).at("ts").get<double>(), before - 1000);
    EXPECT_LE(spans.at(0).at("ts").get<double>(), after + 1000);
}

TEST(Trace, HoldsAnEventALine) {
    const test::TempDir directory;
    {
        Trace trace(directory / "trace.json", 0, "rank 0");
        for (int i = 0; i < 5; ++i) {
            trace.complete("row", "step", Clock::now(), Clock::now());
        }
    }
    const auto text = read_text_file(directory / "trace.json");
    // The brackets, two rows of metadata, five events.
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 2 + 5);
}

TEST(Trace, EscapesNames) {
    const test::TempDir directory;
    const std::string name = "say \"hi\"\\\n\t\x01 caf\xc3\xa9";
    {
        Trace trace(directory / "trace.json", 0, "rank \"0\"");
        trace.complete("row", name, Clock::now(), Clock::now());
        trace.complete("row", "not UTF-8: \xff", Clock::now(), Clock::now());
    }
    const auto spans = events_of(json::parse(read_text_file(directory / "trace.json")), "X");
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(spans[0].at("name"), name);
}

TEST(Trace, TakesEventsFromManyThreads) {
    const test::TempDir directory;
    {
        Trace trace(directory / "trace.json", 0, "rank 0");
        std::vector<std::thread> threads;
        for (int row = 0; row < 4; ++row) {
            threads.emplace_back([&trace, row] {
                for (int i = 0; i < 5000; ++i) {
                    trace.complete("row " + std::to_string(row), std::to_string(i), Clock::now(),
                                   Clock::now());
                    if (i % 1000 == 0) {
                        trace.flush();
                    }
                }
            });
        }
        for (auto& thread : threads) {
            thread.join();
        }
    }
    std::set<std::pair<int, std::string>> seen;
    for (const auto& span : events_of(json::parse(read_text_file(directory / "trace.json")), "X")) {
        seen.emplace(span.at("tid").get<int>(), span.at("name").get<std::string>());
    }
    EXPECT_EQ(seen.size(), 20'000u);
}

// The child's part: writes one byte to `ready` when events are in the file, then waits for its end.
[[noreturn]] void trace_until_killed(const std::filesystem::path& path, int ready) noexcept {
    alarm(60);
    Trace trace(path, 0, "rank 0");
    for (int i = 0; i < 100; ++i) {
        trace.complete("row", "flushed", Clock::now(), Clock::now());
    }
    trace.flush();
    trace.complete("row", "still in memory", Clock::now(), Clock::now());
    [[maybe_unused]] const auto written = write(ready, "x", 1);
    for (;;) {
        pause();
    }
}

TEST(Trace, OpensAfterAKillOnceTheBracketIsAdded) {
    const test::TempDir directory;
    const auto path = directory / "trace.json";
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        trace_until_killed(path, ready[1]);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto text = read_text_file(path);
    EXPECT_THROW(json::parse(text), json::parse_error) << "the child must not have finished the file";
    const auto spans = events_of(json::parse(text + "]"), "X");
    EXPECT_GE(spans.size(), 100u);
}

TEST(Trace, WritesWithinAboutASecondWithoutBeingAsked) {
    const test::TempDir directory;
    Trace trace(directory / "trace.json", 0, "rank 0");
    trace.complete("row", "seen", Clock::now(), Clock::now());
    bool seen = false;
    for (int i = 0; i < 500 && !seen; ++i) {
        seen = read_text_file(directory / "trace.json").find("\"seen\"") != std::string::npos;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(seen);
}

TEST(Trace, DoesNothingWhenDisabled) {
    Trace trace;
    EXPECT_FALSE(trace.enabled());
    trace.complete("row", "name", Clock::now(), Clock::now());
    trace.flush();
}

TEST(Trace, CanBeMovedWhileItRuns) {
    const test::TempDir directory;
    {
        Trace trace;
        trace = Trace(directory / "trace.json", 0, "rank 0");
        EXPECT_TRUE(trace.enabled());
        trace.complete("row", "name", Clock::now(), Clock::now());
    }
    EXPECT_EQ(events_of(json::parse(read_text_file(directory / "trace.json")), "X").size(), 1u);
}

TEST(Trace, SaysWhatItCannotOpen) {
    const test::TempDir directory;
    test::expect_error(ExitCode::io, (directory / "no/trace.json").string(),
                       [&] { Trace(directory / "no/trace.json", 0, "rank 0"); });
}

TEST(Trace, LetsTheRunGoOnWhenTheDiskIsFull) {
    const test::TmpfsMount disk(Bytes{16384});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    Trace trace(disk / "trace.json", 0, "rank 0");
    testing::internal::CaptureStderr();
    setup_log({});
    for (int i = 0; i < 1000; ++i) {
        trace.complete("row", "event", Clock::now(), Clock::now());
    }
    trace.flush();
    trace.complete("row", "event", Clock::now(), Clock::now());
    trace.flush();
    const auto text = testing::internal::GetCapturedStderr();
    const auto first = text.find("cannot write the trace");
    EXPECT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find("cannot write the trace", first + 1), std::string::npos) << "said twice: " << text;
    EXPECT_LE(std::filesystem::file_size(disk / "trace.json"), 16384u);
}

}  // namespace
}  // namespace mastic
