#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/batch/resubmission.hpp>

#include "support/expect_error.hpp"

namespace mastic::job {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Judge, GoesOnOnlyAfterAStopWithACheckpoint) {
    struct Row {
        int code, fruitless;
        JobFate fate;
        bool again;
        const char* why;
    };
    const Row rows[] = {
        {0, 0, JobFate::running, false, "how"},        {3, 0, JobFate::running, false, "code 3"},
        {7, 0, JobFate::running, false, "code 7"},     {137, 0, JobFate::running, false, "code 137"},
        {75, 0, JobFate::running, true, "stopped"},    {75, 0, JobFate::preempted, true, "stopped"},
        {75, 0, JobFate::timed_out, true, "stopped"},  {75, 0, JobFate::unknown, true, "stopped"},
        {75, 0, JobFate::requeued, false, "requeued"}, {75, 0, JobFate::cancelled, false, "cancelled"},
        {75, 1, JobFate::running, true, "stopped"},    {75, 3, JobFate::running, true, "stopped"},
        {75, 4, JobFate::running, false, "given up"},  {75, 4, JobFate::requeued, false, "requeued"},
    };
    for (const Row& row : rows) {
        const Verdict verdict = judge({row.code, row.fruitless, {}, "how"}, row.fate, 3);
        EXPECT_EQ(verdict.again, row.again) << row.code << " " << row.fruitless << " " << to_string(row.fate);
        EXPECT_THAT(verdict.reason, HasSubstr(row.why));
    }
    EXPECT_THAT(judge({0, 0, {}, ""}, JobFate::running, 3).reason, HasSubstr("done"));
    EXPECT_FALSE(judge({75, 1, {}, ""}, JobFate::running, 0).again);
    EXPECT_TRUE(judge({75, 0, {}, ""}, JobFate::running, 0).again);
}

TEST(Judge, GoesOnWithoutALostNode) {
    const RunEnd end{7, 1, {"n4"}, "lost rank 3"};
    EXPECT_TRUE(judge(end, JobFate::running, 3).again);
    EXPECT_THAT(judge(end, JobFate::running, 3).reason, HasSubstr("n4 went away"));
    EXPECT_FALSE(judge(end, JobFate::running, 0).again);
    EXPECT_FALSE(judge(end, JobFate::requeued, 3).again);
    EXPECT_TRUE(judge({7, 1, {}, "lost rank 3"}, JobFate::node_fail, 3).again);
    EXPECT_FALSE(judge({8, 1, {"n4"}, "not finite"}, JobFate::running, 3).again);
}

TEST(Judge, TakesAStopSignalDuringTheStartForAStop) {
    EXPECT_TRUE(stopped_at_start(128 + SIGTERM, true));
    EXPECT_TRUE(stopped_at_start(128 + SIGUSR1, false));
    EXPECT_FALSE(stopped_at_start(128 + SIGTERM, false)) << "srun ends the ranks that are left when one has failed";
    for (const int code : {0, 1, 75, 128, 128 + SIGKILL, 128 + SIGSEGV, 128 + SIGINT, 255}) {
        EXPECT_FALSE(stopped_at_start(code, true)) << code;
    }
}

Environment variables(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

TEST(Resubmission, KeepsWhatTheJobHas) {
    const SlurmJob job = {
        {"NumNodes", "2"}, {"TimeLimit", "00:10:00"}, {"Partition", "scav"}, {"StdOut", "/x/a-1.log"}};
    const auto command = resubmission(
        job, variables({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NAME", "my run"}, {"SLURM_NTASKS_PER_NODE", "3"}}),
        "/spool/script", {"c.toml", "--run.dir", "a b"}, {"n3", "n4"});
    for (const char* option :
         {"--dependency=afterany:7", "--job-name=my run", "--nodes=2", "--time=00:10:00", "--partition=scav",
          "--output=/x/a-1.log", "--open-mode=append", "--exclude=n[3-4]", "--ntasks-per-node=3"}) {
        EXPECT_THAT(command, Contains(option));
    }
    EXPECT_THAT(command, Not(Contains(HasSubstr("--account"))));
    EXPECT_THAT(command, Not(Contains(HasSubstr("--array"))));
    EXPECT_THAT(std::vector(command.end() - 4, command.end()),
                ElementsAre("/spool/script", "c.toml", "--run.dir", "a b"));
    EXPECT_THAT(std::vector(command.begin(), command.begin() + 4),
                ElementsAre("env", "-u", "SLURM_RESTART_COUNT", "sbatch"));
}

TEST(Resubmission, OfATaskOfAnArrayIsThatTaskAlone) {
    const auto command = resubmission({}, variables({{"SLURM_ARRAY_TASK_ID", "12"}}), "s", {}, {});
    EXPECT_THAT(command, Contains("--array=12"));
}

// The last task of an array has the array's id: waiting for that would be waiting for all tasks.
TEST(Resubmission, OfTheLastTaskOfAnArrayWaitsForItAlone) {
    const SlurmJob job = {{"JobId", "14"}, {"ArrayJobId", "14"}, {"ArrayTaskId", "3"}};
    EXPECT_THAT(resubmission(job, variables({{"SLURM_JOB_ID", "14"}}), "s", {}, {}),
                Contains("--dependency=afterany:14_3"));
}

TEST(Resubmission, KeepsTheNumberOfRanksThatWasAskedFor) {
    const SlurmJob job = {{"NumNodes", "3"}, {"NumTasks", "6"}};  // scontrol: 3 nodes x 2
    const auto command = resubmission(
        job, variables({{"SLURM_NTASKS", "5"}, {"SLURM_NTASKS_PER_NODE", "2"}}), "s", {}, {});
    EXPECT_THAT(command, Contains("--ntasks=5"));
    EXPECT_THAT(command, Not(Contains("--ntasks=6")));
}

TEST(Resubmission, ChoosesNodesAsTheJobDidWithoutThoseThatAreLost) {
    const SlurmJob job = {{"ReqNodeList", "n[1-3]"}, {"ExcNodeList", "n4"}};
    EXPECT_THAT(resubmission(job, variables({}), "s", {}, {}), Contains("--nodelist=n[1-3]"));
    EXPECT_THAT(resubmission(job, variables({}), "s", {}, {}), Contains("--exclude=n4"));
    const auto command = resubmission(job, variables({}), "s", {}, {"n2"});
    EXPECT_THAT(command, Contains("--nodelist=n[1,3]"));
    EXPECT_THAT(command, Contains("--exclude=n[2,4]"));
}

TEST(Resubmission, KeepsWhatWasSaidOnTheCommandLineOfSbatch) {
    const SlurmJob job = {{"StdOut", "/o"},    {"StdErr", "/e"},   {"Comment", "hi there"}, {"Nice", "100"},
                          {"Licenses", "a:2"}, {"Requeue", "0"},   {"OverSubscribe", "YES"},
                          {"MailUser", "me"},  {"MailType", "END"}};
    const auto command = resubmission(job, variables({{"SLURM_GPUS_PER_TASK", "1"}, {"SLURM_CPUS_PER_TASK", ""}}), "s", {}, {});
    for (const char* option : {"--error=/e", "--comment=hi there", "--nice=100", "--licenses=a:2", "--no-requeue",
                               "--oversubscribe", "--mail-user=me", "--mail-type=END", "--gpus-per-task=1"}) {
        EXPECT_THAT(command, Contains(option));
    }
    EXPECT_THAT(command, Not(Contains(HasSubstr("--cpus-per-task"))));
    const auto same = resubmission({{"StdOut", "/o"}, {"StdErr", "/o"}, {"Nice", "0"}}, variables({}), "s", {}, {});
    EXPECT_THAT(same, Not(Contains(HasSubstr("--error"))));
    EXPECT_THAT(same, Not(Contains(HasSubstr("--nice"))));
}

TEST(Resubmission, AsksForGpusAsTheJobDid) {
    const SlurmJob job = {{"TresPerNode", "gres:gpu:a100:2,gres:shard:1"}};
    EXPECT_THAT(resubmission(job, variables({}), "s", {}, {}), Contains("--gres=gpu:a100:2,shard:1"));
    const auto command = resubmission(job, variables({{"SLURM_GPUS_PER_NODE", "a100:2"}}), "s", {}, {});
    EXPECT_THAT(command, Contains("--gpus-per-node=a100:2"));
    EXPECT_THAT(command, Not(Contains(HasSubstr("--gres"))));
}

TEST(Submit, ReturnsTheIdAndTellsAFailure) {
    const auto answers = [](const CommandResult& result) {
        return [result](const std::vector<std::string>&, Seconds) { return result; };
    };
    EXPECT_EQ(submit({"sbatch"}, answers({0, "123\n", ""})), "123");
    EXPECT_EQ(submit({"sbatch"}, answers({0, "123;cluster\n", ""})), "123");
    test::expect_error(ExitCode::environment, "Invalid partition", [&] {
        submit({"sbatch", "a b"}, answers({1, "", "sbatch: error: Invalid partition\n"}));
    });
    test::expect_error(ExitCode::environment, "'a b'", [&] {
        submit({"sbatch", "a b"}, answers({127, "", ""}));
    });
}

TEST(Submit, NeverSubmitsTwiceWhereAnAnswerIsLost) {
    const CommandResult lost{1, "", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n"};
    int submitted = 0;
    std::string queue;
    const CommandRunner run = [&](const std::vector<std::string>& argv, Seconds) {
        if (argv[0] == "squeue") {
            return CommandResult{0, queue, ""};
        }
        return ++submitted == 1 ? lost : CommandResult{0, "9\n", ""};
    };
    queue = "5 afterany:77(unfulfilled)\n8 afterany:7(unfulfilled)\n6 (null)\n";
    EXPECT_EQ(submit({"sbatch", "--dependency=afterany:7"}, run), "8");
    EXPECT_EQ(submitted, 1);
    submitted = 0;
    queue = "5 afterany:77(unfulfilled)\n";
    EXPECT_EQ(submit({"sbatch", "--dependency=afterany:7"}, run), "9");
    EXPECT_EQ(submitted, 2);
    submitted = 0;
    test::expect_error(ExitCode::environment, "timed out", [&] { submit({"sbatch"}, run); });
    EXPECT_EQ(submitted, 1);
}

}  // namespace
}  // namespace mastic::job
