#include <mastic/core/command.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/argument_pointers.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>

namespace mastic {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How often we look whether the program has ended while something else holds its outputs open.
constexpr milliseconds look_interval{20};
// A killed process that has not gone by then hangs in the kernel.
constexpr std::chrono::seconds reap_limit{5};

[[noreturn]] void fail(const std::string& program, int error_number) {
    throw Error(ExitCode::environment,
                "cannot start " + program + ": " + std::generic_category().message(error_number));
}

struct Pipe {
    Descriptor read_end;
    Descriptor write_end;

    explicit Pipe(const std::string& program) {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) {
            fail(program, errno);
        }
        read_end = Descriptor(ends[0]);
        write_end = Descriptor(ends[1]);
        fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    }
};

class SpawnActions {
  public:
    SpawnActions(int output, int error) {
        posix_spawn_file_actions_init(&files_);
        posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&files_, error, STDERR_FILENO);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setpgroup(&attributes_, 0);
        // The program must not inherit signals that this process blocks or ignores.
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes_, &signals);
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes_, &signals);
        posix_spawnattr_setflags(&attributes_,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnActions() {
        posix_spawn_file_actions_destroy(&files_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    // Returns 0 or errno.
    int spawn(pid_t& child, const std::vector<std::string>& argv) {
        const std::vector<char*> pointers = argument_pointers(argv);
        return posix_spawnp(&child, pointers[0], &files_, &attributes_, pointers.data(), environ);
    }

  private:
    posix_spawn_file_actions_t files_;
    posix_spawnattr_t attributes_;
};

// Appends what can be read now, until there is more than `most`; closes the pipe at its end.
void drain(Descriptor& pipe, std::string& text, Bytes most) {
    std::array<char, 65536> buffer;
    while (pipe.valid() && text.size() <= most.count) {
        const ssize_t count = read(pipe.get(), buffer.data(), buffer.size());
        if (count > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(count));
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            pipe.close();
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

// The exit code as a shell would give it; nothing while the process runs.
std::optional<int> exit_code_of(pid_t child) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) {
        fail("process " + std::to_string(child), errno);
    }
    if (ended != child) {
        return std::nullopt;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void kill_group(pid_t group) {
    kill(-group, SIGKILL);
    const auto limit = Clock::now() + reap_limit;
    while (!exit_code_of(group) && Clock::now() < limit) {
        std::this_thread::sleep_for(milliseconds(1));
    }
}

bool is_longer_than(Bytes most, const CommandResult& result) {
    return std::max(result.output.size(), result.error.size()) > most.count;
}

// Waits until something can be read, the time is right to look at the process again, or `remaining` is over.
void wait_for_output(const Descriptor& output, const Descriptor& error, Clock::duration remaining) {
    std::array<pollfd, 2> pipes{{{output.get(), POLLIN, 0}, {error.get(), POLLIN, 0}}};
    const bool all_closed = !output.valid() && !error.valid();
    const auto interval = all_closed ? milliseconds(1) : look_interval;
    const auto wait = std::min(interval, std::chrono::ceil<milliseconds>(remaining));
    // poll(2) ignores negative descriptors: those of closed pipes.
    poll(pipes.data(), pipes.size(), static_cast<int>(wait.count()));
}

CommandResult wait_for_end(pid_t child, Descriptor& output, Descriptor& error, Seconds timeout, Bytes most) {
    // Half of the longest span, so that the sum with the clock's time cannot overflow.
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::min(timeout, longest_span / 2));
    const auto deadline = Clock::now() + limit;
    CommandResult result;
    for (;;) {
        wait_for_output(output, error, std::max(deadline - Clock::now(), Clock::duration{}));
        const auto ended = exit_code_of(child);
        const bool late = !ended && Clock::now() >= deadline;
        if (late) {
            kill_group(child);
        }
        drain(output, result.output, most);
        drain(error, result.error, most);
        const bool too_much = is_longer_than(most, result);
        if (too_much && !ended && !late) {
            kill_group(child);
        }
        if (ended || late || too_much) {
            result.exit_code = late ? 124 : too_much ? 128 + SIGKILL : *ended;
            return result;
        }
    }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, Seconds timeout) {
    return run_command_within(argv, timeout, longest_output);
}

CommandResult run_command_within(const std::vector<std::string>& argv, Seconds timeout, Bytes most) {
    if (argv.empty()) {
        throw Error(ExitCode::usage, "an empty command cannot be run");
    }
    Pipe output(argv[0]);
    Pipe error(argv[0]);
    pid_t child = -1;
    const int error_number = SpawnActions(output.write_end.get(), error.write_end.get()).spawn(child, argv);
    if (error_number == ENOENT || error_number == ENOTDIR || error_number == EACCES) {
        return {error_number == EACCES ? 126 : 127, "",
                argv[0] + ": " + std::generic_category().message(error_number)};
    }
    if (error_number != 0) {
        fail(argv[0], error_number);
    }
    output.write_end.close();
    error.write_end.close();
    CommandResult result = wait_for_end(child, output.read_end, error.read_end, timeout, most);
    if (is_longer_than(most, result)) {
        result.error.insert(0, argv[0] + " printed more than " + human(most) + " and was killed\n");
    }
    return result;
}

}  // namespace mastic
