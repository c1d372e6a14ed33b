// Why a run ended: what the run, its ranks and Slurm left behind, joined into one page. What happened first stands first;
// the ends of the other ranks mostly follow from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/job/crash_report.hpp>
#include <mastic/job/flight_recorder.hpp>
#include <mastic/job/slurm_record.hpp>
#include <mastic/job/task_end.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/report/run_status.hpp>

namespace mastic::report {

struct EndEvidence {
    RunView run;
    std::vector<job::LastMoment> ranks;      // by rank; empty: the run keeps none
    std::vector<job::CrashReport> crashes;   // by rank
    std::optional<RankFailure> failure;      // what a rank that failed alone has said
    std::optional<job::SlurmRecord> slurm;   // of the newest start's job, if Slurm still knows it
    std::vector<job::TaskEnd> task_ends;     // from that job's log
    std::optional<job::SlurmRecord> successor;  // the job that goes on after it, as that log says
};

struct Verdict {
    std::string cause;   // "rank 1 on n2 was killed in step 41 (backward)"
    std::string advice;  // what to do
};

// In the order of what explains the rest: a crash, an error of one rank (not one about other ranks), Slurm's reason, a rank
// that srun says was killed, a rank that fell silent while others waited for it, the run's own reason.
Verdict find_cause(const EndEvidence& evidence);

// The page: cause, advice, the records, a table of the ranks, backtraces.
std::string post_mortem_text(const EndEvidence& evidence);

}  // namespace mastic::report
