#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/report/post_mortem.hpp>

namespace mastic::report {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

job::LastMoment moment(int rank, std::int64_t step, const char* phase, int at_ms, const char* end = "") {
    const auto at = std::chrono::system_clock::time_point(milliseconds(1'700'000'000'000 + at_ms));
    return {rank, "n" + std::to_string(rank + 1), 100 + rank, step, phase, at, end};
}

// A run that nobody holds; `code`: what run.json says.
EndEvidence ended(std::optional<int> code, const std::string& reason = "") {
    EndEvidence evidence;
    evidence.run.directory = "runs/a";
    evidence.run.newest_checkpoint = "checkpoints/step-40";
    evidence.run.record.emplace();
    evidence.run.record->attempt.exit_code = code;
    evidence.run.record->attempt.reason = reason;
    return evidence;
}

job::SlurmRecord slurm(const char* state) {
    job::SlurmRecord record;
    record.job_id = "12";
    record.state = state;
    return record;
}

TEST(PostMortem, TheRankThatOthersWaitedForIsTheFirst) {
    EndEvidence evidence = ended(std::nullopt);
    // Rank 0 was ready earlier than rank 1 and waited; it was ended as a consequence.
    evidence.ranks = {moment(0, 41, "bucket 0", 10), moment(1, 41, "backward", 50), moment(2, 41, "wait", 60)};
    const Verdict verdict = find_cause(evidence);
    EXPECT_THAT(verdict.cause, HasSubstr("rank 1 on n2 was killed in step 41 (backward); 2 ranks waited for it"));
    EXPECT_THAT(verdict.advice, HasSubstr("resumes from checkpoints/step-40"));
}

TEST(PostMortem, ARankBehindTheOthersIsTheFirst) {
    EndEvidence evidence = ended(std::nullopt);
    evidence.ranks = {moment(0, 42, "forward", 10, "exit code 7"), moment(1, 41, "wait", 90), moment(2, 42, "data", 5)};
    EXPECT_THAT(find_cause(evidence).cause, HasSubstr("all ranks were killed at once"));
    evidence.ranks[1].phase = "update";
    EXPECT_THAT(find_cause(evidence).cause, HasSubstr("rank 1 on n2 was killed in step 41 (update)"));
}

TEST(PostMortem, AStallSaysWhereTheMissingRankWas) {
    EndEvidence evidence = ended(7, "missing in 'bucket 0': rank 1 (not started)");
    evidence.ranks = {moment(0, 42, "bucket 0", 10, "exit code 7"), moment(1, 42, "forward", 5)};
    EXPECT_EQ(find_cause(evidence).cause,
              "missing in 'bucket 0': rank 1 (not started); last seen: rank 1 on n2 in step 42 (forward)");
}

TEST(PostMortem, WhatGoesOnByItselfIsNotStartedAgain) {
    EndEvidence evidence = ended(75, "SIGUSR1");
    evidence.slurm = slurm("FAILED");
    EXPECT_THAT(find_cause(evidence).advice, HasSubstr("start it again"));
    evidence.successor = slurm("PENDING");
    evidence.successor->job_id = "13";
    EXPECT_EQ(find_cause(evidence).advice, "nothing: job 13 goes on (PENDING)");
    evidence.successor->state = "COMPLETED";
    EXPECT_THAT(find_cause(evidence).advice, HasSubstr("start it again"));
}

TEST(PostMortem, AJobThatSlurmKeepsIsNotStartedAgainEither) {
    EndEvidence evidence = ended(75, "SIGTERM");
    evidence.slurm = slurm("PENDING");
    evidence.slurm->reason = "BeginTime";
    EXPECT_EQ(find_cause(evidence).advice, "nothing: Slurm starts job 12 again (BeginTime)");
    evidence.slurm->reason = "JobHeldUser";
    EXPECT_EQ(find_cause(evidence).advice, "the job is held: scontrol release 12");
    evidence.slurm = slurm("SUSPENDED");
    EXPECT_EQ(find_cause(evidence).advice, "the job is suspended: scontrol resume 12");
}

TEST(PostMortem, ACrashExplainsMoreThanTheCodeOfTheOthers) {
    EndEvidence evidence = ended(7, "lost rank 1");
    evidence.ranks = {moment(0, 41, "bucket 0", 10, "exit code 7"), moment(1, 41, "backward", 50)};
    evidence.crashes = {{1, "SIGSEGV", {"step() at trainer.cpp:12"}}};
    evidence.slurm = slurm("FAILED");
    EXPECT_EQ(find_cause(evidence).cause, "rank 1 on n2 crashed with SIGSEGV in step 41 (backward)");
    const std::string page = post_mortem_text(evidence);
    EXPECT_THAT(page, HasSubstr("rank 1, SIGSEGV:\n  step() at trainer.cpp:12\n"));
    EXPECT_THAT(page, HasSubstr("exit code 7"));
    EXPECT_THAT(page, HasSubstr("job 12: FAILED"));
}

TEST(PostMortem, ARankThatSrunSaysWasKilledExplainsTheOthers) {
    EndEvidence evidence = ended(7, "lost rank 1");
    evidence.ranks = {moment(0, 41, "bucket 0", 10, "exit code 7"), moment(1, 41, "backward", 50)};
    evidence.task_ends = {{1, "Killed"}, {0, "Exited with exit code 7"}};
    EXPECT_EQ(find_cause(evidence).cause, "rank 1 on n2 was killed in step 41 (backward), with SIGKILL");
    EXPECT_THAT(find_cause(evidence).advice, HasSubstr("`dmesg -T` on n2"));
    EXPECT_THAT(find_cause(evidence).advice, HasSubstr("resumes from checkpoints/step-40"));
    evidence.task_ends[0].how = "Out Of Memory";
    EXPECT_EQ(find_cause(evidence).cause, "rank 1 on n2 was killed in step 41 (backward): out of memory");
    // A rank that has told how it ended was killed afterwards.
    evidence.task_ends = {{0, "Killed"}};
    EXPECT_THAT(find_cause(evidence).cause, HasSubstr("lost rank 1"));
}

TEST(PostMortem, AnErrorOfOneRankExplainsTheOthers) {
    EndEvidence evidence = ended(std::nullopt);
    evidence.failure = RankFailure{2, ExitCode::io, "no space left"};
    evidence.slurm = slurm("CANCELLED");
    EXPECT_EQ(find_cause(evidence).cause, "rank 2: no space left");
    // One that only says that others are lost explains less than what Slurm says.
    evidence.failure->code = ExitCode::collective;
    evidence.slurm = slurm("NODE_FAIL");
    EXPECT_EQ(find_cause(evidence).cause, "a node of the job failed");
}

TEST(PostMortem, SlurmsReasonExplainsKilledRanks) {
    EndEvidence evidence = ended(std::nullopt);
    evidence.ranks = {moment(0, 41, "backward", 10), moment(1, 41, "backward", 50)};
    const std::pair<const char*, const char*> reasons[] = {{"OUT_OF_MEMORY", "more memory"},
                                                           {"NODE_FAIL", "a node of the job failed"},
                                                           {"TIMEOUT", "time limit"},
                                                           {"PREEMPTED", "higher priority"},
                                                           {"CANCELLED", "scancel"}};
    for (const auto& [state, part] : reasons) {
        evidence.slurm = slurm(state);
        EXPECT_THAT(find_cause(evidence).cause, HasSubstr(part)) << state;
    }
    evidence.slurm = slurm("OUT_OF_MEMORY");
    EXPECT_THAT(find_cause(evidence).advice, HasSubstr("--mem"));
}

TEST(PostMortem, ARunThatEndedByItselfSaysItsOwnReason) {
    EXPECT_EQ(find_cause(ended(8, "the loss is not finite on rank 1")).cause, "the loss is not finite on rank 1");
    EXPECT_THAT(find_cause(ended(0, "finished")).cause, HasSubstr("finished"));
    EXPECT_THAT(find_cause(ended(75, "SIGUSR1")).cause, HasSubstr("stopped early: SIGUSR1"));
    EXPECT_EQ(find_cause(ended(std::nullopt)).cause, "the run was killed without a word");
}

TEST(PostMortem, OfARunThatGoesOn) {
    EndEvidence evidence = ended(std::nullopt);
    evidence.run.owner = "job 12, process 7 on n1";
    EXPECT_EQ(find_cause(evidence).cause, "the run goes on: job 12, process 7 on n1");
}

TEST(PostMortem, WithoutACheckpointTheAdviceSaysSo) {
    EndEvidence evidence = ended(std::nullopt);
    evidence.run.newest_checkpoint.clear();
    evidence.slurm = slurm("NODE_FAIL");
    EXPECT_THAT(find_cause(evidence).advice, HasSubstr("begins anew"));
}

}  // namespace
}  // namespace mastic::report
