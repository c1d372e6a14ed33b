// The end of a batch job: the real program, with a Slurm that answers from files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/checkpoint/generation.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Settle : public testing::Test {
  protected:
    Settle() {
        answer("scontrol", "cat '" + (dir_ / "job").string() + "'");
        answer("sbatch", "printf '[%s]' \"$@\" >>'" + (dir_ / "submitted").string() + "'; echo 8");
        answer("srun", "echo n1; echo n2");
        job_is("RUNNING", 0);
    }

    std::filesystem::path run_dir() const { return dir_ / "run"; }

    void answer(const std::string& program, const std::string& body) {
        const auto path = dir_.write("bin/" + program, "#!/bin/sh\n" + body + "\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    void job_is(const std::string& state, int restarts) {
        dir_.write("job", "   JobState=" + state + " Reason=None\n   Requeue=1 Restarts=" + std::to_string(restarts) +
                              "\n   RunTime=00:00:10 TimeLimit=01:00:00\n   StdOut=/logs/x-7.log\n");
    }
    // As the newest start of job 7, begun at second 2000 since 1970.
    void record(std::optional<int> code, std::int64_t first_step, std::int64_t last_step) {
        report::RunRecord record;
        record.attempt.started = report::Time{std::chrono::seconds{2000}};
        record.attempt.job_id = "7";
        record.attempt.first_step = first_step;
        record.attempt.last_step = last_step;
        if (code) {
            report::finish(record, static_cast<ExitCode>(*code), "SIGTERM", record.attempt.started);
        }
        if (last_step > first_step) {  // the name of a checkpoint is all that is looked at
            const auto step = static_cast<std::uint64_t>(last_step);
            std::filesystem::create_directories(checkpoint::generation_path(run_dir() / "checkpoints", step));
        }
        std::filesystem::create_directories(run_dir());
        report::write_run_record(run_dir() / "run.json", record);
    }

    ProgramResult settle(int launcher_code, int started = 2000, const std::string& signal = "none",
                         const Arguments& options = {}, const std::string& directory_option = "--run.dir") {
        Arguments words = {"settle", directory_option, run_dir().string()};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {std::to_string(launcher_code), std::to_string(started), signal, "--", "/spool/script",
                                   "my.toml", "--train.epochs", "3"});
        Arguments command = {"env", "SLURM_JOB_ID=7", "SLURM_JOB_NAME=mine", "SLURM_JOB_NODELIST=n[1-2]",
                             "PATH=" + (dir_ / "bin").string() + ":/usr/bin:/bin", MASTIC_TRAIN};
        command.insert(command.end(), words.begin(), words.end());
        const CommandResult result = run_command(command, Seconds(60));
        return {result.exit_code, result.output + result.error};
    }
    std::string submitted() const {
        const auto file = dir_ / "submitted";
        return std::filesystem::exists(file) ? read_text_file(file) : "";
    }

    TempDir dir_;
};

TEST_F(Settle, GoesOnOnceAfterAStop) {
    record(75, 0, 40);
    const ProgramResult result = settle(143);
    EXPECT_EQ(result.exit_code, 75) << result.text;
    EXPECT_THAT(result.text, HasSubstr("SIGTERM, at step 40"));
    EXPECT_THAT(result.text, HasSubstr("job 8 goes on"));
    EXPECT_THAT(submitted(), HasSubstr("[--dependency=afterany:7]"));
    EXPECT_THAT(submitted(), HasSubstr("[--output=/logs/x-7.log]"));
    EXPECT_THAT(submitted(), HasSubstr("[/spool/script][my.toml][--train.epochs][3]"));
}

TEST_F(Settle, LeavesARequeuedOrCancelledJobToSlurm) {
    record(75, 0, 40);
    job_is("COMPLETING", 1);
    EXPECT_EQ(settle(75).exit_code, 75);
    job_is("COMPLETING", 0);
    EXPECT_EQ(settle(75).exit_code, 75);
    EXPECT_EQ(submitted(), "");
}

TEST_F(Settle, GivesTheRunsOwnCode) {
    record(8, 0, 40);
    EXPECT_EQ(settle(137).exit_code, 8);
    record(0, 0, 40);
    EXPECT_EQ(settle(1).exit_code, 0);
    EXPECT_EQ(submitted(), "");
}

TEST_F(Settle, CompletesTheRecordOfKilledRanks) {
    record(std::nullopt, 0, 0);
    EXPECT_EQ(settle(137).exit_code, 7);
    EXPECT_EQ(record_of(run_dir()).attempt.exit_code, 7);
    EXPECT_THAT(record_of(run_dir()).attempt.reason, HasSubstr("137"));
    EXPECT_EQ(submitted(), "");
}

TEST_F(Settle, GoesOnWithoutANodeThatIsLost) {
    record(7, 0, 40);
    answer("srun", "echo n1");
    const ProgramResult result = settle(137);
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_THAT(result.text, HasSubstr("n2 went away"));
    EXPECT_THAT(submitted(), HasSubstr("[--exclude=n2]"));
}

TEST_F(Settle, KeepsTheCodeOfAStepThatNeverBegan) {
    EXPECT_EQ(settle(3).exit_code, 3);
    record(75, 0, 40);  // of an earlier start
    EXPECT_EQ(settle(5, 3000).exit_code, 5);
    EXPECT_EQ(submitted(), "");
}

TEST_F(Settle, CountsStopsBeforeTheFirstStepAndGivesUp) {
    for (int start = 0; start < 4; ++start) {
        const ProgramResult result = settle(143, 3000 + start, "TERM");
        EXPECT_EQ(result.exit_code, 75);
        EXPECT_THAT(result.text, start < 3 ? HasSubstr("job 8 goes on") : HasSubstr("given up"));
    }
    EXPECT_EQ(record_of(run_dir()).restarts.size(), 3u);
}

// srun ends the ranks that are left with SIGTERM when one has failed: its code then is 143 as well.
TEST_F(Settle, TakesAFailureDuringTheStartForNoStop) {
    const ProgramResult result = settle(143, 3000);
    EXPECT_EQ(result.exit_code, 143);
    EXPECT_THAT(result.text, HasSubstr("before its first step"));
    EXPECT_EQ(submitted(), "");
}

TEST_F(Settle, GoesOnAfterAPreemptionDuringTheStart) {
    dir_.write("job", "   JobState=RUNNING Reason=None\n   Requeue=1 Restarts=0\n   PreemptTime=2026-01-30T02:03:44\n");
    EXPECT_EQ(settle(143, 3000).exit_code, 75);
    EXPECT_THAT(submitted(), HasSubstr("[/spool/script]"));
}

TEST_F(Settle, DoesNotRepeatAMistakeThatTheRanksHaveTold) {
    const ProgramResult told = settle(2, 3000, "none", {"--train.epochs", "many"});
    EXPECT_EQ(told.exit_code, 2);
    EXPECT_EQ(told.text, "");
    const ProgramResult lost = settle(143, 3000, "none", {"--train.epochs", "many"});
    EXPECT_EQ(lost.exit_code, 2);
    EXPECT_THAT(lost.text, HasSubstr("many"));
}

TEST_F(Settle, EndsWithTheRunsCodeIfRunJsonIsDamaged) {
    record(8, 0, 40);
    dir_.write("run/run.json", "{\"exit");
    const ProgramResult result = settle(8);
    EXPECT_EQ(result.exit_code, 8) << result.text;
    EXPECT_THAT(result.text, HasSubstr("run.json"));
}

TEST_F(Settle, WaitsForAControllerThatIsAway) {
    record(75, 0, 40);
    const std::string once = (dir_ / "once").string();
    answer("sbatch", "test -e '" + once + "' && echo 8 && exit; touch '" + once +
                         "'; echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' >&2; exit 1");
    const ProgramResult result = settle(75);
    EXPECT_THAT(result.text, HasSubstr("job 8 goes on"));
    EXPECT_THAT(result.text, HasSubstr("waiting for it"));
}

// run.json is that of whoever leads the run, here as it lost a rank long ago.
TEST_F(Settle, OfAMemberOfAnElasticRunGoesByItsOwnCode) {
    record(7, 0, 40);
    EXPECT_EQ(settle(0, 2000, "none", {}, "--elastic.join").exit_code, 0);
    EXPECT_EQ(settle(5, 2000, "none", {}, "--elastic.join").exit_code, 5);
    EXPECT_EQ(submitted(), "");
    EXPECT_EQ(settle(75, 2000, "none", {}, "--elastic.join").exit_code, 75);
    EXPECT_THAT(submitted(), HasSubstr("[/spool/script][my.toml]"));
    EXPECT_EQ(record_of(run_dir()).attempt.exit_code, 7) << "not its record";
}

TEST_F(Settle, OfAMemberWhoseRunIsDoneSubmitsNothing) {
    record(0, 0, 40);
    EXPECT_EQ(settle(75, 2000, "none", {}, "--elastic.join").exit_code, 0);
    EXPECT_EQ(submitted(), "");
}

TEST_F(Settle, TellsTheCommandIfItCannotSubmit) {
    record(75, 0, 40);
    answer("sbatch", "echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1");
    const ProgramResult result = settle(75);
    EXPECT_THAT(result.text, HasSubstr("Invalid account"));
    EXPECT_THAT(result.text, HasSubstr("sbatch --parsable"));
    EXPECT_EQ(result.exit_code, 75);
}

}  // namespace
}  // namespace mastic::test
