// mastic-mps --print-sbatch, --submit.
#include <filesystem>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/colocation/launch.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/own_program.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;

// The script has this program's own directory in front of PATH.
fs::path find_for_script(const std::string& program) {
    const fs::path beside = own_program().parent_path() / program;
    const bool is_word = program.find('/') == program.npos;
    return is_word && fs::is_regular_file(beside) ? beside : find_program(program);
}

bool is_trainer(const std::string& program) { return fs::path(program).filename() == "mastic-train"; }

}  // namespace

job::BatchCall batch_call(const CommandContext& context, const std::vector<std::string>& own) {
    const MpsOptions& options = context.options;
    const std::string& program = context.program.front();
    const bool trains = is_trainer(program);
    job::BatchCall call;
    call.work = trains ? job::BatchWork::mps : job::BatchWork::share;
    call.options = options.slurm;
    call.options.mpi = find_srun_mpi(options.slurm.mpi == "auto" ? options.srun_mpi : options.slurm.mpi,
                                     find_for_script(program));
    if (options.uses_gpus()) {
        if (call.options.gpus_per_node == 0) {
            call.options.gpus_per_node = job::all_gpus;
        }
        call.ranks_per_gpu = options.ranks_per_device();
    } else if (options.ranks_per_device() > 0 && options.slurm.ranks_per_node == 1) {
        throw Error(ExitCode::usage, "how many groups of cores the nodes have is not known here",
                    "say how many ranks a node gets: --slurm.ranks_per_node, " + options.ranks_per_gpu + " for each group");
    }
    call.arguments.assign(context.program.begin() + 1, context.program.end());
    call.sharing = {job::without_batch_switches(own), options.chooses(), program};
    call.script = fs::path(program).filename().string() + ".sbatch";
    if (trains) {
        call.next_steps = "  restart   scancel -b -s USR1 JOB    (it saves, and goes on in a new job)\n";
    }
    return call;
}

}  // namespace mastic::colocation
