#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/job/flight_recorder.hpp>

#include "support/temp_dir.hpp"

namespace mastic::job {
namespace {

TEST(FlightRecorder, KeepsTheLastPhaseOfAKilledProcess) {
    const test::TempDir directory;
    const auto file = directory / "rank-3.last";
    const pid_t child = fork();
    if (child == 0) {
        FlightRecorder recorder(file, 3, "n2");
        recorder.enter("forward", 41);
        recorder.enter("a much longer name of a phase than the one after it");
        recorder.enter("backward");
        raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const auto moment = read_last_moment(file);
    ASSERT_TRUE(moment);
    EXPECT_EQ(moment->rank, 3);
    EXPECT_EQ(moment->host, "n2");
    EXPECT_EQ(moment->pid, child);
    EXPECT_EQ(moment->step, 41);
    EXPECT_EQ(moment->phase, "backward");
    EXPECT_EQ(moment->end, "");
    EXPECT_LT(std::chrono::system_clock::now() - moment->since, std::chrono::hours(1));
}

TEST(FlightRecorder, NotesAnEndThatTheProcessKnowsOf) {
    const test::TempDir directory;
    FlightRecorder recorder(directory / "rank-0.last", 0, "n1");
    recorder.enter("wait", 7);
    recorder.end(75);
    EXPECT_EQ(read_last_moment(directory / "rank-0.last")->end, "exit code 75");
    EXPECT_EQ(read_last_moment(directory / "rank-0.last")->phase, "wait");
}

TEST(FlightRecorder, WithoutAFileRecordsNothing) {
    FlightRecorder recorder;
    recorder.enter("forward", 1);
    recorder.end(0);
}

TEST(FlightRecorder, DamagedAndForeignFilesAreLeftOut) {
    const test::TempDir directory;
    FlightRecorder(directory / "rank-11.last", 11, "n1").enter("forward", 2);
    FlightRecorder(directory / "rank-2.last", 2, "n1").enter("forward", 2);
    directory.write("rank-1.last", "{\"rank\":1,");
    directory.write("rank-5.last", "");
    directory.write("notes.txt", "{}");
    const auto moments = read_last_moments(directory.path());
    ASSERT_EQ(moments.size(), 2u);
    EXPECT_EQ(moments[0].rank, 2);
    EXPECT_EQ(moments[1].rank, 11);
    EXPECT_TRUE(read_last_moments(directory / "missing").empty());
}

}  // namespace
}  // namespace mastic::job
