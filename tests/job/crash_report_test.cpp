#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/job/crash_report.hpp>

#include "support/temp_dir.hpp"

namespace mastic::job {
namespace {

// How the process ended that reports its crash to `file`.
template <class Crash>
int signal_of_crash(const std::filesystem::path& file, Crash crash) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
            std::signal(number, SIG_DFL);  // a sanitizer may have its own
        }
        alarm(20);
        report_crashes_to(file);
        crash();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int deeper(volatile char* above) {
    volatile char frame[1024];
    frame[0] = *above;
    if (frame[0] == 1) {  // never
        return 1;
    }
    return deeper(frame) + frame[0];
}

TEST(CrashReport, HoldsSignalAndBacktraceAndTheProcessStillEndsByIt) {
    const test::TempDir directory;
    EXPECT_EQ(signal_of_crash(directory / "rank-2.crash", [] { *static_cast<volatile int*>(nullptr) = 1; }), SIGSEGV);
    EXPECT_EQ(signal_of_crash(directory / "rank-0.crash", [] { std::abort(); }), SIGABRT);
    EXPECT_EQ(signal_of_crash(directory / "rank-3.crash", [] { raise(SIGSEGV); }), SIGSEGV);
    const auto reports = read_crash_reports(directory.path(), nullptr);
    ASSERT_EQ(reports.size(), 3u);
    EXPECT_EQ(reports[0].rank, 0);
    EXPECT_EQ(reports[0].signal, "SIGABRT");
    EXPECT_EQ(reports[1].signal, "SIGSEGV");
    EXPECT_GT(reports[1].frames.size(), 2u);
}

TEST(CrashReport, OfAStackOverflow) {
    const test::TempDir directory;
    char bottom = 0;
    EXPECT_EQ(signal_of_crash(directory / "rank-0.crash", [&] { deeper(&bottom); }), SIGSEGV);
    EXPECT_EQ(read_crash_reports(directory.path(), nullptr).size(), 1u);
}

TEST(CrashReport, NoFileWithoutACrash) {
    const test::TempDir directory;
    EXPECT_EQ(signal_of_crash(directory / "rank-0.crash", [] {}), 0);
    EXPECT_TRUE(directory.names().empty());
}

TEST(CrashReport, AddressesGetTheNamesThatAddr2lineKnows) {
    const test::TempDir directory;
    directory.write("rank-1.crash", "SIGSEGV\nbin/train(+0x12ab)[0x7f00]\nbin/train()[0x4012]\nlib.so(f+0x1)[0x9]\n");
    std::vector<std::vector<std::string>> asked;
    const auto reports = read_crash_reports(directory.path(), [&](const std::vector<std::string>& argv, Seconds) {
        asked.push_back(argv);
        return CommandResult{0, argv.back() == "0x12ab" ? "step() at trainer.cpp:12\n" : "?? ??:0\n", ""};
    });
    EXPECT_THAT(reports.at(0).frames,
                testing::ElementsAre("step() at trainer.cpp:12", "bin/train()[0x4012]", "lib.so(f+0x1)[0x9]"));
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_EQ(asked[0].at(5), "bin/train");
    EXPECT_EQ(asked[1].back(), "0x4012");
}

}  // namespace
}  // namespace mastic::job
