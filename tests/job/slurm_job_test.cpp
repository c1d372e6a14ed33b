#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/slurm_job.hpp>

namespace mastic::job {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

// Slurm 22.05, a job whose batch script still runs.
std::string answer(const std::string& state, const std::string& restarts, const std::string& run_time,
                   const std::string& preempted = "None") {
    return "JobId=6 JobName=probe\n"
           "   UserId=me(1000) GroupId=me(1000) MCS_label=N/A\n"
           "   Priority=4294901758 Nice=0 Account=(null) QOS=(null)\n"
           "   JobState=" +
           state +
           " Reason=None Dependency=(null)\n"
           "   Requeue=1 Restarts=" +
           restarts +
           " BatchFlag=1 Reboot=0 ExitCode=0:0\n"
           "   RunTime=" +
           run_time +
           " TimeLimit=00:01:00 TimeMin=N/A\n"
           "   PreemptEligibleTime=2026-01-30T02:03:42 PreemptTime=" +
           preempted +
           "\n"
           "   NumNodes=2 NumCPUs=8 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n"
           "   Command=/home/me/my scripts/train.sbatch a b=c\n"
           "   StdOut=/home/me/my logs/probe-6.log\n"
           "   Power=\n   \n";
}

JobFate fate(const std::string& text, int restarts = 0) {
    return fate_of(parse_slurm_job(text), restarts);
}

TEST(SlurmJob, IsReadFromScontrol) {
    const SlurmJob job = parse_slurm_job(answer("RUNNING", "0", "00:00:30"));
    EXPECT_EQ(job.at("JobId"), "6");
    EXPECT_EQ(job.at("NumNodes"), "2");
    EXPECT_EQ(job.at("Command"), "/home/me/my scripts/train.sbatch a b=c");
    EXPECT_EQ(job.at("StdOut"), "/home/me/my logs/probe-6.log");
    EXPECT_EQ(job.at("ReqB:S:C:T"), "0:0:*:*");
    for (const char* none : {"Account", "QOS", "TimeMin", "Reason", "Power", "PreemptTime"}) {
        EXPECT_THAT(job, Not(Contains(Key(none))));
    }
    EXPECT_TRUE(parse_slurm_job("slurm_load_jobs error: Invalid job id specified\n").empty());
}

// `scontrol show job 14`, where 14 is an array and its last task.
TEST(SlurmJob, IsTheOneThatWasAskedForAmongTheTasksOfAnArray) {
    const std::string tasks =
        "JobId=15 ArrayJobId=14 ArrayTaskId=1 JobName=sweep\n   JobState=FAILED Reason=None\n\n"
        "JobId=14 ArrayJobId=14 ArrayTaskId=3 JobName=sweep\n   JobState=RUNNING Reason=None\n\n"
        "JobId=16 ArrayJobId=14 ArrayTaskId=2 JobName=sweep\n   JobState=PENDING Reason=Priority\n\n";
    EXPECT_EQ(parse_slurm_job(tasks, "14").at("JobState"), "RUNNING");
    EXPECT_EQ(parse_slurm_job(tasks, "14").at("ArrayTaskId"), "3");
    EXPECT_EQ(parse_slurm_job(tasks, "16").at("JobState"), "PENDING");
    EXPECT_FALSE(parse_slurm_job(tasks, "15").contains("StdOut"));
    EXPECT_EQ(parse_slurm_job(tasks, "14_1").at("JobId"), "15");
    const CommandRunner run = [&](const auto&, Seconds) { return CommandResult{0, tasks, ""}; };
    EXPECT_EQ(ask_slurm_job("14", run).at("JobState"), "RUNNING");
}

TEST(JobFate, TellsWhetherTheJobWasToldToEnd) {
    const auto told = [](const std::string& text) { return told_to_end(parse_slurm_job(text), 0); };
    EXPECT_FALSE(told(answer("RUNNING", "0", "00:00:30")));
    EXPECT_FALSE(told_to_end({}, 0));
    EXPECT_TRUE(told(answer("RUNNING", "0", "00:00:30", "2026-01-30T02:03:44")));
    const std::string resumed = "   SuspendTime=2026-01-30T02:03:44 SecsPreSuspend=9\n";
    EXPECT_FALSE(told(answer("RUNNING", "0", "00:00:30", "2026-01-30T02:03:44") + resumed)) << "by gang scheduling";
    EXPECT_TRUE(told(answer("RUNNING", "0", "00:00:30", "2026-01-30T02:09:00") + resumed)) << "another one, later";
    EXPECT_TRUE(told(answer("COMPLETING", "0", "00:00:30")));
    EXPECT_TRUE(told(answer("PENDING", "1", "00:00:30")));
}

TEST(JobFate, TellsATaskWhatItsJobWasToldBeforeItStarted) {
    JobContext task;
    task.slurm_job_id = "6";
    std::string said = answer("RUNNING", "0", "00:00:30", "2026-01-30T02:03:44");
    const CommandRunner run = [&](const auto&, Seconds) { return CommandResult{0, said, ""}; };
    EXPECT_TRUE(told_before_start(task, run));
    said = answer("CONFIGURING", "0", "00:00:01");
    EXPECT_FALSE(told_before_start(task, run));
    said = answer("RUNNING", "1", "00:00:01");  // a second start
    task.restart_count = 1;
    EXPECT_FALSE(told_before_start(task, run));
    const CommandRunner away = [](const auto&, Seconds) { return CommandResult{124, "", ""}; };
    EXPECT_FALSE(told_before_start(task, away));
    task.slurm_job_id.clear();
    said = answer("RUNNING", "0", "00:00:30", "2026-01-30T02:03:44");
    EXPECT_FALSE(told_before_start(task, run));
}

TEST(JobFate, KnowsANodeThatFailed) { EXPECT_EQ(fate(answer("NODE_FAIL", "0", "00:00:30")), JobFate::node_fail); }

TEST(JobFate, ComesFromStateRestartsAndTimes) {
    EXPECT_EQ(fate(answer("RUNNING", "0", "00:00:30")), JobFate::running);
    EXPECT_EQ(fate(answer("RUNNING", "0", "00:00:30", "2026-01-30T02:03:44")),
              JobFate::running);  // in its grace time
    EXPECT_EQ(fate(answer("COMPLETING", "0", "00:00:30")), JobFate::cancelled);
    EXPECT_EQ(fate(answer("COMPLETING", "0", "00:01:00")), JobFate::timed_out);
    EXPECT_EQ(fate(answer("COMPLETING", "0", "00:00:30", "2026-01-30T02:03:44")), JobFate::preempted);
    EXPECT_EQ(fate(answer("COMPLETING", "1", "00:00:30", "2026-01-30T02:03:44")), JobFate::requeued);
    EXPECT_EQ(fate(answer("PENDING", "1", "00:00:00")), JobFate::requeued);
    EXPECT_EQ(fate(answer("RUNNING", "1", "00:00:30"), 1), JobFate::running);
    EXPECT_EQ(fate(answer("COMPLETING", "2", "00:00:30"), 1), JobFate::requeued);
    EXPECT_EQ(fate(""), JobFate::unknown);
}

TEST(SlurmJob, IsEmptyWhereSlurmCannotBeAsked) {
    int asked = 0;
    const CommandRunner silent = [&](const std::vector<std::string>&, Seconds) {
        ++asked;
        return CommandResult{124, "", ""};
    };
    EXPECT_TRUE(ask_slurm_job("", silent).empty());
    EXPECT_EQ(asked, 0);
    EXPECT_TRUE(ask_slurm_job("6", silent).empty());
    EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace mastic::job
