#include <gtest/gtest.h>

#include <mastic/job/slurm_record.hpp>

#include "support/expect_error.hpp"

namespace mastic::job {
namespace {

// As Slurm 22.05 prints them.
const char* const scontrol_failed =
    "JobId=7 JobName=train.sbatch UserId=a(1) GroupId=a(1) MCS_label=N/A Priority=4 Nice=0 Account=(null) QOS=(null) "
    "JobState=FAILED Reason=NonZeroExitCode Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=7:0 "
    "RunTime=00:00:09 TimeLimit=02:00:00 TimeMin=N/A SubmitTime=2026-01-31T12:00:00 StartTime=2026-01-31T12:00:01 "
    "EndTime=2026-01-31T12:00:10 Deadline=N/A Partition=short NodeList=n[1-4] BatchHost=n1 NumNodes=4 "
    "\n   WorkDir=/home/a\n   StdErr=/home/a/slurm-7.out\n   StdIn=/dev/null\n   StdOut=/home/a/slurm-7.out\n   Power=\n";

TEST(SlurmRecord, IsReadFromScontrol) {
    const auto record = record_of(parse_slurm_job(scontrol_failed));
    ASSERT_TRUE(record);
    EXPECT_EQ(record->job_id, "7");
    EXPECT_EQ(record->state, "FAILED");
    EXPECT_EQ(record->reason, "NonZeroExitCode");
    EXPECT_EQ(record->exit, "7:0");
    EXPECT_EQ(record->nodes, "n[1-4]");
    EXPECT_EQ(record->ended, "2026-01-31T12:00:10");
    EXPECT_EQ(record->time_limit, "02:00:00");
    EXPECT_EQ(record->directory, "/home/a");
    EXPECT_EQ(record->log, "/home/a/slurm-7.out");
    EXPECT_FALSE(record_of(parse_slurm_job("slurm_load_jobs error: Invalid job id specified")));
}

TEST(SlurmRecord, ARunningJobHasNoEnd) {
    const auto record = record_of(
        parse_slurm_job("JobId=8 JobState=RUNNING Reason=None EndTime=2026-01-31T14:00:00 NodeList=n1"));
    EXPECT_EQ(record->ended, "");
    EXPECT_EQ(record->reason, "");
}

TEST(SlurmRecord, IsReadFromSacct) {
    const auto record =
        parse_sacct("12_3|CANCELLED by 32874|None|0:15|n[1-2]|2026-01-31T12:00:10|01:00:00|/home/a\n12_4|FAILED|x\n");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->job_id, "12_3");
    EXPECT_EQ(record->state, "CANCELLED");
    EXPECT_EQ(record->reason, "");
    EXPECT_EQ(record->exit, "0:15");
    EXPECT_EQ(record->directory, "/home/a");
    EXPECT_EQ(parse_sacct("15|FAILED|None|1:0|n1|x|x|/a\n14|TIMEOUT|None|0:0|n2|x|x|/a\n", "14")->state, "TIMEOUT");
    EXPECT_FALSE(parse_sacct(""));
    EXPECT_FALSE(parse_sacct("no such job\n"));
}

TEST(SlurmRecord, AccountingIsAskedFirstThenTheController) {
    std::vector<std::string> asked;
    const CommandRunner without_accounting = [&](const std::vector<std::string>& argv, Seconds) {
        asked.push_back(argv[0]);
        return argv[0] == "sacct" ? CommandResult{1, "", "Slurm accounting storage is disabled\n"}
                                  : CommandResult{0, scontrol_failed, ""};
    };
    EXPECT_EQ(find_slurm_record("7", without_accounting)->state, "FAILED");
    EXPECT_EQ(asked, (std::vector<std::string>{"sacct", "scontrol"}));
    const CommandRunner without_slurm = [](const auto&, Seconds) { return CommandResult{127, "", ""}; };
    EXPECT_FALSE(find_slurm_record("7", without_slurm));
    test::expect_error(ExitCode::usage, "not the id", [&] { find_slurm_record("7; rm", without_slurm); });
}

}  // namespace
}  // namespace mastic::job
