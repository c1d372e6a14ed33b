#include <mastic/colocation/mps_control.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <iterator>
#include <sstream>
#include <thread>

#include <unistd.h>

#include <mastic/colocation/process.hpp>
#include <mastic/config/text.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;

constexpr auto program = "nvidia-cuda-mps-control";
constexpr Seconds answer_limit{10};  // of one command
constexpr Seconds start_limit{30};
constexpr std::chrono::milliseconds control_interval{50};  // each look starts programs, or reads all of /proc

bool wait_until(const std::function<bool()>& done, Seconds patience) {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(patience);
    while (!done()) {
        if (std::chrono::steady_clock::now() >= limit) {
            return false;
        }
        std::this_thread::sleep_for(control_interval);
    }
    return true;
}

std::string last_lines(const fs::path& file) {
    std::string text;
    try {
        text = read_text_file(file);
    } catch (const Error&) {
        return "";
    }
    while (text.ends_with('\n')) {
        text.pop_back();
    }
    constexpr std::size_t longest = 600;
    return text.substr(text.size() > longest ? text.size() - longest : 0);
}

}  // namespace

std::vector<std::string> MpsControl::environment_words() const {
    // A share that the job has is for the clients: the daemon would pass it on once more.
    std::vector<std::string> words = {"env",
                                      "-u",
                                      "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                      "-u",
                                      "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
                                      "CUDA_MPS_PIPE_DIRECTORY=" + place_.pipe.string()};
    if (!place_.log.empty()) {
        words.push_back("CUDA_MPS_LOG_DIRECTORY=" + place_.log.string());
    }
    return words;
}

void MpsControl::start(const std::vector<std::string>& devices) const {
    std::vector<std::string> command = environment_words();
    command.push_back("CUDA_VISIBLE_DEVICES=" + config::join(devices, ","));
    command.insert(command.end(),
                   {"sh", "-c", std::string("trap '' HUP INT QUIT TERM USR1 USR2; exec ") + program + " -d"});
    const CommandResult result = run_(command, start_limit);
    if (result.exit_code == 127) {
        throw Error(ExitCode::environment, std::string(program) + " is not in PATH",
                    "it comes with NVIDIA's driver (Debian: nvidia-cuda-mps); without it: --mps off");
    }
    if (result.exit_code != 0) {
        throw Error(ExitCode::environment,
                    std::string(program) + " -d ended with code " + std::to_string(result.exit_code) + ": " +
                        result.output + result.error + end_of_logs(),
                    "without MPS: --mps off");
    }
}

std::optional<std::string> MpsControl::ask(const std::string& command) const {
    std::vector<std::string> words = environment_words();
    words.insert(words.end(), {"sh", "-c", std::string("echo \"$1\" | ") + program, "sh", command});
    const CommandResult result = run_(words, answer_limit);
    return result.exit_code == 0 ? std::optional(result.output) : std::nullopt;
}

bool MpsControl::answers() const {
    std::error_code ignored;
    return fs::exists(place_.pipe / "control", ignored) && ask("get_server_list").has_value();
}

std::vector<pid_t> MpsControl::servers() const {
    std::istringstream lines(ask("get_server_list").value_or(""));
    return {std::istream_iterator<pid_t>(lines), {}};
}

void MpsControl::prove(Seconds patience) const {
    if (!answers()) {
        throw Error(ExitCode::environment, "the MPS daemon was started but does not answer" + end_of_logs(),
                    "is another daemon in the way (`mastic-mps status`)? without MPS: --mps off");
    }
    ask("start_server -uid " + std::to_string(getuid()));
    if (!wait_until([this] { return !servers().empty(); }, patience)) {
        throw Error(ExitCode::environment, "the MPS daemon starts no server for this user" + end_of_logs(),
                    "may this user compute on these GPUs? without MPS: --mps off");
    }
}

std::string MpsControl::end_of_logs() const {
    std::string text;
    for (const char* name : {"control.log", "server.log"}) {
        if (const std::string lines = last_lines(place_.log / name); !lines.empty()) {
            text += "\n  " + std::string(name) + ": " + lines;
        }
    }
    return text;
}

void MpsControl::stop(Seconds patience) const {
    const auto gone = [this] { return mps_processes(place_.pipe).empty(); };
    if (gone()) {
        return;
    }
    if (ask("quit") && wait_until(gone, patience)) {
        return;
    }
    for (const ProcessId& process : mps_processes(place_.pipe)) {
        kill(process.pid, SIGKILL);
    }
    wait_until(gone, patience);
}

std::optional<MpsPlace> find_site_daemon(const Environment& environment, const CommandRunner& run) {
    const MpsPlace place{environment("CUDA_MPS_PIPE_DIRECTORY").value_or("/tmp/nvidia-mps"),
                         environment("CUDA_MPS_LOG_DIRECTORY").value_or("")};
    return MpsControl(place, run).answers() ? std::optional(place) : std::nullopt;
}

}  // namespace mastic::colocation
