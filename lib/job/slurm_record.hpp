// What Slurm remembers of a job: from its accounting (sacct) where a site has it, else from the controller (scontrol),
// which forgets a job some minutes after its end.
#pragma once

#include <optional>
#include <string>

#include <mastic/core/command.hpp>
#include <mastic/job/slurm_job.hpp>

namespace mastic::job {

struct SlurmRecord {
    std::string job_id;  // a number, also of a task of an array
    std::string state;   // "OUT_OF_MEMORY", "NODE_FAIL", "TIMEOUT", "PREEMPTED", "CANCELLED", "FAILED", "COMPLETED", "RUNNING"
    std::string reason;  // Slurm's own word, as "NonZeroExitCode"; empty: none
    std::string exit;    // "1:0": code and signal of the batch script
    std::string nodes;   // "n[1-4]"
    std::string ended;   // local time; empty: not yet
    std::string time_limit;
    std::string directory;  // where it was submitted; empty: not told
    std::string log;        // standard output; empty: not told
};

// Nothing if neither knows the job. Waits at most `timeout` for each of the two. Throws Error(usage) for an id that is no
// number (or 12_3, of an array).
std::optional<SlurmRecord> find_slurm_record(const std::string& job_id, const CommandRunner& run,
                                             Seconds timeout = Seconds(5));

// From `sacct --parsable2` with the columns that find_slurm_record asks for, and from `scontrol show job`. Of several lines
// (all tasks of an array) that of `job_id`, else the first.
std::optional<SlurmRecord> parse_sacct(const std::string& text, const std::string& job_id = "");
std::optional<SlurmRecord> record_of(const SlurmJob& job);

}  // namespace mastic::job
