// How a batch job ends after its ranks have: for good, or with a successor that goes on.
//
// Only a run that stopped with a valid checkpoint (code 75) or lost a node goes on: any other failure would come again. A
// run that stops again and again without a new checkpoint (its time limit is too short for a step, say) is given up after
// a number of restarts. Where Slurm starts the job again by itself nothing is submitted, or two jobs would claim one
// directory. A new job is submitted rather than the old one requeued, because Slurm lets a requeued job wait for two
// minutes.
#pragma once

#include <string>
#include <vector>

#include <mastic/core/command.hpp>
#include <mastic/core/environment.hpp>
#include <mastic/job/slurm_job.hpp>

namespace mastic::job {

struct RunEnd {
    int code = 0;                         // the run's own
    int fruitless_starts = 0;             // the newest in a row that left no new checkpoint
    std::vector<std::string> lost_nodes;  // that do not answer any more
    std::string how;                      // for people: "SIGUSR1, at step 40"; may be empty; where code is 0, in place of "the run is done"
};

struct Verdict {
    bool again = false;
    std::string reason;  // for people
};

Verdict judge(const RunEnd& end, JobFate fate, int max_restarts);

// What a code of srun is to the run if the run had not begun to write run.json: ranks that SIGTERM or SIGUSR1 ended
// while they were starting are a run that was stopped (75), at the point where it was. srun itself sends SIGTERM, to the
// ranks that are left when one has failed: that counts only if the job was `told` to end.
bool stopped_at_start(int launcher_code, bool told);

// The command that submits `script` with `arguments` again, to start after this job and without `lost_nodes`: with the
// same name, log, array index, nodes, ranks, time limit, partition, account, ... as this job has, whether they came from
// the script or from sbatch's command line.
std::vector<std::string> resubmission(const SlurmJob& job, const Environment& environment,
                                      const std::string& script, const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& lost_nodes);

// Runs it; returns the new job's id. Where the answer is lost, a job that waits for the same one (--dependency) is looked
// for, and only if there is none it is submitted again. Throws Error(environment) with what sbatch said.
std::string submit(const std::vector<std::string>& sbatch, const CommandRunner& run);

}  // namespace mastic::job
