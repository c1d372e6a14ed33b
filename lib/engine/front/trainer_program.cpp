#include <mastic/engine/front/trainer_program.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/argument_pointers.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/own_program.hpp>
#include <mastic/job/signals.hpp>
#include <mastic/job/slurm_job.hpp>

namespace mastic::engine {
namespace {

// PREFIX/bin/mastic-train -> PREFIX/libexec/mastic/mastic-train.
std::filesystem::path trainer_path() {
    const auto prefix = own_program().parent_path().parent_path();
    return prefix / "libexec" / "mastic" / "mastic-train";
}

[[noreturn]] void become(const std::filesystem::path& program, const std::vector<std::string>& command_line) {
    ::execv(program.c_str(), argument_pointers(command_line).data());
    const int error_number = errno;
    throw Error(ExitCode::environment, "cannot start " + program.string() + ": " + std::system_category().message(error_number),
                error_number == ENOENT ? "this installation was built without libtorch: it can submit trainings, and look at "
                                         "them, but trains nothing itself"
                                       : "is the installation complete?");
}

LibraryVersions versions(const std::vector<std::string>& command_line) {
    if (std::filesystem::exists(trainer_path())) {
        become(trainer_path(), command_line);
    }
    return {{"MPI", built_and_run(comm::mpi_header_version(), comm::mpi_library_version())},
            {"torch", "not in this installation"},
            {"compiler", "GCC " __VERSION__}};
}

// A preemption while libtorch is being loaded stops the first step, and so does one that came before this process: rank 0 tells
// itself, and the ranks agree as on any signal.
void hear_early_signals(const job::JobContext& job) {
    job::hold_signals();
    if (job.rank == 0 && job::told_before_start(job, run_command)) {
        std::raise(SIGTERM);
    }
}

bool is_told_to_leave() {
    sigset_t waiting;
    sigpending(&waiting);
    return sigismember(&waiting, SIGTERM) == 1 || sigismember(&waiting, SIGUSR1) == 1;
}

int command(const CommandContext& context) {
    if (context.invocation.command.empty() && !context.invocation.dry_run) {
        hear_early_signals(context.job);
        // Nobody waits for a member that has not come, so its node is given back at once.
        if (!context.options.elastic.join.empty() && is_told_to_leave()) {
            std::fputs("mastic-train: told to end before it had joined: the training does without it\n", stderr);
            return static_cast<int>(ExitCode::requeue);
        }
    }
    become(trainer_path(), context.command_line);
}

}  // namespace

Engine trainer_program() { return {versions, command}; }

}  // namespace mastic::engine
