#include <mastic/colocation/launch.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/colocation/process.hpp>
#include <mastic/core/argument_pointers.hpp>
#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string reason(int error) {
    return std::generic_category().message(error);
}

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal :
         {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH}) {
        sigaddset(&set, signal);
    }
    return set;
}

// The terminal signals the whole process group, and Slurm's daemon all processes of a step. A sender outside of this
// process' namespace shows as 0.
bool child_has_it(const siginfo_t& signal) {
    return signal.si_code == SI_KERNEL || signal.si_pid == 0 || program_name(signal.si_pid) == "slurmstepd";
}

// Returns what waitpid says.
int wait_for_end(pid_t child, const sigset_t& watched) {
    for (;;) {
        siginfo_t signal{};
        if (sigwaitinfo(&watched, &signal) < 0) {
            continue;
        }
        int status = 0;
        if (signal.si_signo != SIGCHLD) {
            if (!child_has_it(signal)) {
                kill(child, signal.si_signo);
            }
        } else if (waitpid(child, &status, WNOHANG) == child) {
            return status;
        }
    }
}

[[noreturn]] void end_like(int status) {
    if (WIFSIGNALED(status)) {
        const rlimit no_core{0, 0};  // the program has written its own
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(WTERMSIG(status), SIG_DFL);
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &only, nullptr);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

fs::path find_program(const std::string& word, ExitCode code) {
    if (word.find('/') != word.npos) {
        if (is_program(word)) {
            return word;
        }
        throw Error(code, word + " is no program that can be started");
    }
    const char* variable = std::getenv("PATH");
    const std::string path = variable != nullptr ? variable : "/usr/bin:/bin";
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const fs::path file = fs::path(end > begin ? path.substr(begin, end - begin) : ".") / word;
        if (is_program(file)) {
            return file;
        }
        begin = end + 1;
    }
    throw Error(code, "there is no program " + word + " in PATH");
}

void apply(const EnvironmentChange& change) {
    std::vector<std::string> own;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string variable = *entry;
        if (variable.starts_with("MASTIC_MPS_")) {
            own.push_back(variable.substr(0, variable.find('=')));
        }
    }
    for (const std::string& name : own) {
        unsetenv(name.c_str());
    }
    for (const auto& [name, value] : change) {
        value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
}

void become_program(const fs::path& program, const std::vector<std::string>& words) {
    execvp(program.c_str(), argument_pointers(words).data());  // execvp, for scripts without a first line that names their shell
    throw Error(ExitCode::environment, "cannot start " + program.string() + ": " + reason(errno));
}

void supervise_program(const fs::path& program, const std::vector<std::string>& words,
                       const std::function<void()>& afterwards) {
    const sigset_t watched = watched_signals();
    sigset_t former;
    sigprocmask(SIG_BLOCK, &watched, &former);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        throw Error(ExitCode::environment, "cannot make a process: " + reason(errno));
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(128 + SIGKILL);  // it was killed before
        }
        sigprocmask(SIG_SETMASK, &former, nullptr);
        become_program(program, words);
    }
    const int status = wait_for_end(child, watched);
    afterwards();
    end_like(status);
}

}  // namespace mastic::colocation
