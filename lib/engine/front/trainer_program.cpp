#include <mastic/engine/front/trainer_program.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/error.hpp>
#include <mastic/job/signals.hpp>

namespace mastic::engine {
namespace {

// PREFIX/bin/mastic-train -> PREFIX/libexec/mastic/mastic-train.
std::filesystem::path trainer_path() {
    const auto prefix = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    return prefix / "libexec" / "mastic" / "mastic-train";
}

[[noreturn]] void become(const std::filesystem::path& program, const std::vector<std::string>& command_line) {
    std::vector<char*> argv;
    for (const std::string& word : command_line) {
        argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
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

int command(const CommandContext& context) {
    if (context.invocation.command.empty()) {
        job::hold_signals();  // a preemption while libtorch is being loaded stops the first step
    }
    become(trainer_path(), context.command_line);
}

}  // namespace

Engine trainer_program() { return {versions, command}; }

}  // namespace mastic::engine
