#include <mastic/colocation/keeper.hpp>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

constexpr Seconds server_limit{30};
constexpr Seconds quit_limit{5};

void close_all_above(int last) {
    std::vector<int> open_ones;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        open_ones.push_back(std::stoi(entry.path().filename()));
    }
    for (const int descriptor : open_ones) {
        if (descriptor > last) {
            close(descriptor);
        }
    }
}

// As a daemon: out of the launcher's process group, which it kills at the end, and without its output, for whose end it waits.
void detach(const std::optional<FileLock>& kept) {
    setsid();
    if (chdir("/") != 0) {
        return;  // no harm: only an unmount would be in the way
    }
    // Slurm sends these to all processes of a step, when the ranks are to save their work.
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE}) {
        std::signal(signal, SIG_IGN);
    }
    std::signal(SIGCHLD, SIG_DFL);
    const int nothing = open("/dev/null", O_RDWR);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        dup2(nothing, standard);
    }
    int last = STDERR_FILENO;
    if (kept) {
        dup2(kept->descriptor(), ++last);
        fcntl(last, F_SETFD, FD_CLOEXEC);
    }
    close_all_above(last);  // PMI's sockets are among them
    prctl(PR_SET_NAME, "mastic-mps-keep");
}

// Processes that no longer hold the lock but are alive all the same: they closed descriptors that they did not know.
void wait_for(const ProcessId& process) {
    const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
    if (descriptor < 0) {
        sleep(1);
        return;
    }
    pollfd ended{descriptor, POLLIN, 0};
    if (is_alive(process)) {
        poll(&ended, 1, -1);
    }
    close(descriptor);
}

// Returns with the exclusive lock; nothing: the last member has done the rest.
std::optional<FileLock> wait_for_members(const SessionDirectory& directory) {
    while (std::filesystem::exists(directory.path())) {
        auto lock = FileLock::try_take(directory.lock(), FileLock::Mode::shared);
        if (!lock) {
            usleep(1000);  // somebody just looks whether it is left over
            continue;
        }
        if (!lock->wait_exclusive()) {
            return std::nullopt;
        }
        const auto members = directory.living_members();
        if (members.empty()) {
            return lock;
        }
        lock.reset();
        wait_for(members.front());
    }
    return std::nullopt;
}

SessionState bring_up(const SessionDirectory& directory, const SessionKey& key,
                      const Environment& environment) {
    const MpsControl control(directory.mps(), run_command);
    try {
        remove_leftovers(environment);  // in exclusive mode, a dead job's daemon holds the GPU
        directory.write_key(key);
        for (const auto& path : {directory.mps().pipe, directory.mps().log}) {
            std::filesystem::create_directory(path);
            std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        }
        if (!control.answers()) {  // an earlier keeper may have come that far
            control.stop(quit_limit);
            control.start(key.devices);
        }
        control.prove(server_limit);
        return {true, ""};
    } catch (const Error& error) {
        control.stop(quit_limit);
        return {false, error.full_message()};
    } catch (const std::exception& error) {
        control.stop(quit_limit);
        return {false, error.what()};
    }
}

void keep(const SessionDirectory& directory, const SessionKey& key, const Environment& environment) {
    directory.write_state(bring_up(directory, key, environment));
    if (const auto lock = wait_for_members(directory)) {
        end_session(directory);
    }
}

// Nothing: there is a keeper already.
std::optional<FileLock> found(const SessionDirectory& directory, const ProcessId& founder) {
    directory.create();
    directory.add_member(founder);
    constexpr int tries = 10;  // a rank may just look whether the directory has a keeper
    for (int i = 0; i < tries; ++i) {
        if (auto lock = FileLock::try_take(directory.keeper(), FileLock::Mode::exclusive)) {
            return lock;
        }
        usleep(10'000);
    }
    return std::nullopt;
}

// The second fork gives it to init, so that nobody has to wait for it.
[[noreturn]] void become_keeper(const SessionDirectory& directory, const SessionKey& key,
                                const std::optional<FileLock>& lock, const ProcessId& founder,
                                const Environment& environment) {
    try {
        detach(lock);
        const std::optional<FileLock> own = lock ? std::nullopt : found(directory, founder);
        if ((!lock && !own) || fork() != 0) {
            _exit(0);
        }
        keep(directory, key, environment);
    } catch (const std::exception&) {
        _exit(
            static_cast<int>(ExitCode::io));  // nobody hears it; the next start or clean removes what is left
    }
    _exit(0);
}

struct SessionLocks {
    FileLock members;
    FileLock keeper;
};

// Nothing: a member, a process that one has started, or a keeper is alive.
std::optional<SessionLocks> take_left_over(const SessionDirectory& directory) {
    auto members = FileLock::try_take(directory.lock(), FileLock::Mode::exclusive);
    auto keeper = members ? FileLock::try_take(directory.keeper(), FileLock::Mode::exclusive) : std::nullopt;
    if (!keeper || !directory.living_members().empty()) {
        return std::nullopt;
    }
    return SessionLocks{std::move(*members), std::move(*keeper)};
}

}  // namespace

void start_keeper(const SessionDirectory& directory, const SessionKey& key, std::optional<FileLock> lock,
                  const Environment& environment) {
    const ProcessId founder = find_process(getpid()).value_or(ProcessId{getpid(), 0});
    const pid_t child = fork();
    if (child < 0) {
        throw Error(ExitCode::environment,
                    "cannot make a process: " + std::generic_category().message(errno));
    }
    if (child == 0) {
        become_keeper(directory, key, lock, founder, environment);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0 && !lock) {
        directory.create();  // meets the same obstacle, and tells it
    }
}

void end_session(const SessionDirectory& directory) {
    MpsControl(directory.mps(), run_command).stop(quit_limit);
    directory.remove();
}

bool is_left_over(const SessionDirectory& directory) {
    return take_left_over(directory).has_value();
}

std::vector<std::string> remove_leftovers(const Environment& environment, bool dry_run) {
    std::vector<std::string> removed;
    for (const SessionDirectory& directory : SessionDirectory::all(environment)) {
        const auto locks = take_left_over(directory);
        if (!locks) {
            continue;
        }
        const auto key = directory.read_key();
        removed.push_back(directory.path().string() + (key ? " of " + key->job + " on " + key->host : ""));
        if (!dry_run) {
            end_session(directory);
        }
    }
    return removed;
}

}  // namespace mastic::colocation
