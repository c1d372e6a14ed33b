#include <cstdlib>
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/deadline.hpp>

namespace mastic::job {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

const Environment no_variables = [](const std::string&) { return std::nullopt; };

// Local time, as Slurm prints it.
std::string stamp(TimePoint at) {
    const auto seconds = std::chrono::system_clock::to_time_t(at);
    std::tm parts = {};
    localtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return text;
}

const TimePoint some_end = std::chrono::system_clock::from_time_t(1800000000);

// Answers to squeue and scontrol, and what was asked.
struct FakeSlurm {
    CommandResult squeue;
    CommandResult scontrol;
    std::vector<std::vector<std::string>> asked = {};
    Seconds allowed{0};

    CommandRunner runner() {
        return [this](const std::vector<std::string>& argv, Seconds timeout) {
            asked.push_back(argv);
            allowed += timeout;
            const bool to_squeue = std::find(argv.begin(), argv.end(), "squeue") != argv.end();
            return to_squeue ? squeue : scontrol;
        };
    }
};

TEST(EndTime, ComesFromSqueue) {
    FakeSlurm slurm{{0, stamp(some_end) + "\n", ""}, {}};
    const auto end = find_end_time("42", no_variables, slurm.runner());
    EXPECT_EQ(end.at, some_end);
    EXPECT_EQ(end.source, "squeue");
    ASSERT_EQ(slurm.asked.size(), 1u);
    EXPECT_THAT(slurm.asked[0], Contains("42"));
    EXPECT_THAT(slurm.asked[0], Contains(HasSubstr("%e")));
}

TEST(EndTime, IsThatOfTheTaskWhoseIdIsItsArrays) {
    const std::string lines = "15 " + stamp(some_end - 1h) + "\n14 " + stamp(some_end) + "\n";
    FakeSlurm slurm{{0, lines, ""}, {}};
    EXPECT_EQ(find_end_time("14", no_variables, slurm.runner()).at, some_end);
    EXPECT_EQ(find_end_time("14_1", no_variables, slurm.runner()).at, some_end - 1h);
}

TEST(EndTime, ComesFromScontrolIfSqueueCannotTell) {
    const auto details =
        "JobId=42 JobName=x\n   SuspendTime=None SecsPreSuspend=0\n   StartTime=" + stamp(some_end - 1h) +
        " EndTime=" + stamp(some_end) + " Deadline=N/A\n";
    for (const CommandResult& squeue :
         {CommandResult{1, "", "slurm_load_jobs error: Socket timed out"}, CommandResult{127, "", ""},
          CommandResult{0, "", ""}, CommandResult{0, "N/A\n", ""}}) {
        FakeSlurm slurm{squeue, {0, details, ""}};
        const auto end = find_end_time("42", no_variables, slurm.runner());
        EXPECT_EQ(end.at, some_end) << squeue.output << squeue.error;
        EXPECT_EQ(end.source, "scontrol");
    }
}

TEST(EndTime, FailsSoftlyWithTheReasonsAndWithinItsBound) {
    FakeSlurm slurm{{124, "", ""}, {1, "", "Unable to contact slurm controller\n"}};
    const auto end = find_end_time("42", no_variables, slurm.runner(), Seconds(5));
    EXPECT_EQ(end.at, std::nullopt);
    EXPECT_EQ(end.source,
              "squeue failed: no answer in time; scontrol failed: Unable to contact slurm controller");
    EXPECT_LE(slurm.allowed, Seconds(5));
}

TEST(EndTime, OfAJobWithoutLimitIsNone) {
    FakeSlurm slurm{{0, "NONE\n", ""}, {}};
    const auto end = find_end_time("42", no_variables, slurm.runner());
    EXPECT_EQ(end.at, std::nullopt);
    EXPECT_THAT(end.source, HasSubstr("no time limit"));
}

TEST(EndTime, InTheEnvironmentWins) {
    FakeSlurm slurm{{0, stamp(some_end), ""}, {}};
    const Environment environment = [](const std::string& name) {
        return name == "SLURM_JOB_END_TIME" ? std::optional<std::string>("1700000000") : std::nullopt;
    };
    EXPECT_EQ(find_end_time("42", environment, slurm.runner()).at,
              std::chrono::system_clock::from_time_t(1700000000));
    EXPECT_TRUE(slurm.asked.empty());
}

TEST(EndTime, InTheEnvironmentThatNoJobHasIsAskedFor) {
    for (const char* odd : {"99999999999999", "-5", "0"}) {
        FakeSlurm slurm{{0, stamp(some_end), ""}, {}};
        const Environment environment = [odd](const std::string& name) {
            return name == "SLURM_JOB_END_TIME" ? std::optional<std::string>(odd) : std::nullopt;
        };
        EXPECT_EQ(find_end_time("42", environment, slurm.runner()).at, some_end) << odd;
    }
}

TEST(EndTime, IsNotAskedForOutsideOfSlurm) {
    FakeSlurm slurm{{0, stamp(some_end), ""}, {}};
    EXPECT_EQ(find_end_time("", no_variables, slurm.runner()).at, std::nullopt);
    EXPECT_TRUE(slurm.asked.empty());
}

TEST(EndTime, IsFoundWithRealProgramsMissing) {
    const CommandRunner without_slurm = [](const std::vector<std::string>& argv, Seconds timeout) {
        auto command = argv;
        std::replace(command.begin(), command.end(), std::string("squeue"),
                     std::string("no-such-program-squeue"));
        std::replace(command.begin(), command.end(), std::string("scontrol"),
                     std::string("no-such-program-scontrol"));
        return run_command(command, timeout);
    };
    const auto end = find_end_time("42", no_variables, without_slurm);
    EXPECT_EQ(end.at, std::nullopt);
    EXPECT_EQ(end.source, "squeue failed: not found; scontrol failed: not found");
}

TEST(EndTime, IsTheEarlierOfTheJobsAndTheUsersOwn) {
    const EndTime job{some_end, "squeue"};
    EXPECT_EQ(limit_end_time(job, some_end - 2h, Seconds(3600)).at, some_end - 1h);
    EXPECT_EQ(limit_end_time(job, some_end - 2h, Seconds(3600)).source, "job.time_limit");
    EXPECT_EQ(limit_end_time(job, some_end - 2h, Seconds(3 * 3600)).source, "squeue");
    EXPECT_EQ(limit_end_time(job, some_end - 2h, std::nullopt).at, some_end);
    EXPECT_EQ(limit_end_time({}, some_end - 2h, Seconds(60)).at, some_end - 2h + 60s);
    EXPECT_FALSE(limit_end_time({}, some_end - 2h, Seconds(60)).known);  // Slurm's may be earlier
}

TEST(SlurmTimestamp, IsReadWholeOrNotAtAll) {
    EXPECT_EQ(parse_slurm_timestamp(stamp(some_end)), some_end);
    for (const char* bad :
         {"", "N/A", "Unknown", "2026-01-31", "2026-01-31T12:00:00 x", "2026-13-31T12:00:00",
          "0005-12-31T12:00:00", "9999-01-31T12:00:00"}) {
        EXPECT_EQ(parse_slurm_timestamp(bad), std::nullopt) << bad;
    }
}

TEST(StopPlanner, NeverStopsWithoutAnEnd) {
    StopPlanner planner(std::nullopt, Seconds(60));
    planner.observe_step(Seconds(1e6));
    EXPECT_FALSE(planner.must_stop(some_end));
}

TEST(StopPlanner, KeepsAStepASaveAndTheMarginFree) {
    StopPlanner planner(some_end, Seconds(5), Seconds(20));
    EXPECT_EQ(planner.reserve(), Seconds(25));
    planner.observe_step(Seconds(2));
    EXPECT_EQ(planner.reserve(), Seconds(27));
    planner.observe_save(Seconds(3));
    EXPECT_EQ(planner.reserve(), Seconds(10));
    EXPECT_FALSE(planner.must_stop(some_end - 11s));
    EXPECT_TRUE(planner.must_stop(some_end - 10s));
    EXPECT_TRUE(planner.must_stop(some_end + 1s));
}

TEST(StopPlanner, FollowsALimitThatIsChanged) {
    StopPlanner planner(some_end, 10s, 10s);
    EXPECT_TRUE(planner.must_stop(some_end - 15s));
    planner.set_end(some_end + 1h);
    EXPECT_FALSE(planner.must_stop(some_end - 15s));
    EXPECT_EQ(planner.end(), some_end + 1h);
    planner.set_end(std::nullopt);
    EXPECT_FALSE(planner.must_stop(some_end + 2h));
    EXPECT_EQ(planner.end(), std::nullopt);
    planner.set_end(some_end - 1h);
    EXPECT_TRUE(planner.must_stop(some_end - 1h));
}

TEST(StopPlanner, CountsTheLongestSave) {
    StopPlanner planner(some_end, Seconds(0));
    for (const double save : {1.0, 7.0, 2.0}) {
        planner.observe_save(Seconds(save));
    }
    EXPECT_EQ(planner.reserve(), Seconds(7));
}

TEST(StopPlanner, ForgetsASlowFirstStepButNotAtOnce) {
    StopPlanner planner(some_end, Seconds(0), Seconds(0));
    planner.observe_step(Seconds(30));
    planner.observe_step(Seconds(1));
    EXPECT_GT(planner.reserve(), Seconds(25));
    for (int step = 0; step < 200; ++step) {
        planner.observe_step(Seconds(1));
    }
    EXPECT_NEAR(planner.reserve().count(), 1.0, 0.01);
}

// Every schedule of steps and saves ends in time if it obeys the planner and no step or save is longer than
// the longest so far.
TEST(StopPlanner, IsInTimeForSteadySteps) {
    for (const double step : {0.01, 1.0, 40.0}) {
        for (const double save : {0.1, 15.0}) {
            StopPlanner planner(some_end, Seconds(2), Seconds(20));
            const auto span = [](double seconds) {
                return std::chrono::duration_cast<TimePoint::duration>(Seconds(seconds));
            };
            TimePoint now = some_end - 120s;
            planner.observe_step(Seconds(step));
            planner.observe_save(Seconds(save));
            while (!planner.must_stop(now)) {
                now += span(step);
                planner.observe_step(Seconds(step));
            }
            EXPECT_LE(now + span(save), some_end - 2s) << step << " " << save;
            EXPECT_GE(now + span(save) + 2 * span(step), some_end - 2s)
                << "stopped too early " << step << " " << save;
        }
    }
}

}  // namespace
}  // namespace mastic::job
