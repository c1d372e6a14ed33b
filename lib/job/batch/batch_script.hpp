// The text of batch scripts: those in slurm/, which find everything out when they run, and those of --print-sbatch,
// which say what was found out before.
#pragma once

#include <string>
#include <vector>

#include <mastic/job/batch/slurm_options.hpp>

namespace mastic::job {

enum class BatchWork {
    train,   // one training that goes on in further jobs until it is done
    sweep,   // the same for each line of a file, as a job array
    tune,    // mastic-tune run
    pilot,   // one member of an elastic training, on one node
    mps,     // a training with several ranks on each GPU
    share,   // the same with a program of somebody else, which does not go on in further jobs
    manage,  // mastic-rescale serve
};

// What stands between srun and the program in a script of mps or share.
struct RankSharing {
    std::vector<std::string> options{"--ranks-per-gpu", "auto"};  // of mastic-mps
    bool starts_ranks = true;                                     // mastic-mps starts srun, not srun mastic-mps
    std::string program = "mastic-train";
};

struct BatchRequest {
    BatchWork work = BatchWork::train;
    SlurmOptions options;                // mpi "auto": the script asks the program
    std::vector<std::string> arguments;  // of the program, before those that sbatch is given
    std::string program_directory;       // empty: the script looks for it
    std::string working_directory;       // empty: where sbatch is called
    std::vector<std::string> notes;      // comments at the top
    RankSharing sharing;
    // Of a pilot that somebody else watches: it does not come again by itself, and leaves the code of its end in the file
    // PREFIX + job id + ".code". Empty: `mastic-train settle` decides.
    std::string code_file_prefix;
};

// Bash, with all options of sbatch; each of its decisions is one of `mastic-train settle`.
std::string batch_script(const BatchRequest& request);

// What stands as slurm/train.sbatch and so on: made for no cluster in particular.
BatchRequest general_batch_request(BatchWork work);

}  // namespace mastic::job
