#include <mastic/tuning/command/selection_proof.hpp>

#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/own_program.hpp>
#include <mastic/tuning/mpich_selection.hpp>

namespace mastic::tuning {
namespace {

// Without the launcher's variables the process is an MPI world of its own.
CommandResult probe_with(const std::filesystem::path& file) {
    const std::string program = own_program();
    return mastic::run_command({"env",
                        "-u",
                        "PMI_RANK",
                        "-u",
                        "PMI_SIZE",
                        "-u",
                        "PMI_FD",
                        "-u",
                        "PMI_PORT",
                        "-u",
                        "PMI_ID",
                        "-u",
                        "PMI2_FD",
                        "-u",
                        "PMIX_RANK",
                        "-u",
                        "SLURM_PMI2_SRUN_PORT",
                        "-u",
                        "SLURM_NTASKS",
                        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + file.string(),
                        program,
                        "probe"},
                       Seconds{30});
}

}  // namespace

std::string prove_selection(const std::filesystem::path& file, const std::string& selection) {
    const CommandResult good = probe_with(file);
    if (good.exit_code != 0) {
        throw Error(ExitCode::environment,
                    "the MPI library does not start with " + file.string() + ": " + good.error,
                    "do not use the file; --format mpich-env needs none");
    }
    std::filesystem::path canary = file;
    canary += ".canary";
    write_file_atomically(canary, mpich_canary(selection));
    const CommandResult bad = probe_with(canary);
    std::filesystem::remove(canary);
    if (bad.exit_code == 0) {
        throw Error(ExitCode::environment,
                    "the MPI library starts with a selection file that names an algorithm which does not "
                    "exist: it does not "
                    "read the file",
                    "is this MPICH 4.0? --format mpich-env needs no file");
    }
    return "proved: MPI starts with this file, and refuses (exit code " + std::to_string(bad.exit_code) +
           ") the same file with an algorithm that does not exist, so it reads it";
}

}  // namespace mastic::tuning
