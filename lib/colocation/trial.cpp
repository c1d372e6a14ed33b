#include <mastic/colocation/trial.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/colocation/launch.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds trial_interval{50};
constexpr std::chrono::seconds end_limit{20};  // from SIGTERM to SIGKILL

// mpiexec and srun end their ranks when they get SIGTERM, also when this process is killed.
pid_t start(const std::vector<std::string>& words, const fs::path& output) {
    const fs::path program = find_program(words.front());
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child != 0) {
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    try {
        become_program(program, words);
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(127);
}

// Its exit code; `tick` is called now and then. After `limit`, or when it is asked to, it ends early.
int wait_for(pid_t child, const TrialRequest& request, const std::function<void()>& tick) {
    auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(request.limit);
    bool ending = false;
    for (;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        tick();
        const bool late = Clock::now() >= limit;
        if (late || (!ending && request.stop_asked())) {
            kill(child, ending ? SIGKILL : SIGTERM);
            ending = true;
            limit = Clock::now() + end_limit;
        }
        std::this_thread::sleep_for(trial_interval);
    }
}

std::string end_of(const fs::path& file) {
    const std::string text = fs::exists(file) ? read_text_file(file) : "";
    constexpr std::size_t longest = 800;
    return text.size() > longest ? "..." + text.substr(text.size() - longest) : text;
}

std::optional<double> measured(const fs::path& metrics) {
    std::error_code ignored;
    if (!fs::exists(metrics, ignored)) {
        return std::nullopt;
    }
    const double throughput = steady_throughput(report::read_metrics(metrics));
    return throughput > 0 ? std::optional(throughput) : std::nullopt;
}

}  // namespace

double steady_throughput(const report::Metrics& metrics) {
    const auto& steps = metrics.steps;
    constexpr std::size_t fewest = 5;
    if (steps.size() < fewest) {
        return 0;
    }
    const report::StepRecord& first = steps[steps.size() / 3];
    const report::StepRecord& last = steps.back();
    const double time = last.time_s - first.time_s;
    return time > 0 ? static_cast<double>(last.samples - first.samples) / time : 0;
}

std::vector<std::string> fill_arguments(std::vector<std::string> words, const fs::path& directory, int steps,
                                        Seconds limit) {
    const std::pair<std::string, std::string> values[] = {{"{dir}", directory.string()},
                                                          {"{steps}", std::to_string(steps)},
                                                          {"{time}", mastic::to_string(limit)}};
    for (std::string& word : words) {
        for (const auto& [name, value] : values) {
            if (const auto at = word.find(name); at != word.npos) {
                word.replace(at, name.size(), value);
            }
        }
    }
    return words;
}

Trial run_trial(const TrialRequest& request, int ranks_per_device) {
    Trial trial;
    trial.ranks_per_device = ranks_per_device;
    fs::create_directories(request.directory);
    const fs::path output = request.directory / "output.txt";
    const MemoryReading before = request.memory();
    trial.memory_before = before.used;
    trial.memory_total = before.total;
    const int code = wait_for(start(request.words, output), request, [&] {
        trial.memory_peak.count = std::max(trial.memory_peak.count, request.memory().used.count);
    });
    const auto throughput = measured(request.directory / "metrics.jsonl");
    constexpr int stopped = static_cast<int>(ExitCode::requeue);
    if (code != 0 && code != stopped) {
        trial.problem = "ended with code " + std::to_string(code) + "\n" + end_of(output);
    } else if (!throughput) {
        trial.problem = "too few steps in its metrics.jsonl\n" + end_of(output);
    }
    trial.samples_per_s = throughput.value_or(0);
    std::error_code ignored;
    fs::remove_all(request.directory, ignored);
    return trial;
}

}  // namespace mastic::colocation
