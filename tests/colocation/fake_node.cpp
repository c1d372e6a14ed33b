#include "colocation/fake_node.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <mastic/colocation/process.hpp>

namespace mastic::test {
namespace {

namespace fs = std::filesystem;

// Nothing of what is not there, also of a process that ends while it is read.
std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const fs::path& path) {
    std::istringstream text(content(path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        lines.push_back(line);
    }
    return lines;
}

}  // namespace

FakeNode::FakeNode(const std::string& gpus) {
    fs::create_directory(base());
    variables_ = {{"FAKE_NVML", directory_.write("gpus", gpus).string()},
                  {"FAKE_MPS_JOURNAL", (directory_ / "journal").string()},
                  {"MASTIC_MPS_NVML", FAKE_NVML_LIBRARY},
                  {"MASTIC_MPS_DIRECTORY", base().string()},
                  {"PATH", std::string(FAKE_PROGRAMS) + ":/usr/bin:/bin"},
                  {"CUDA_VISIBLE_DEVICES", ""},
                  {"CUDA_MPS_PIPE_DIRECTORY", "/nonexistent"},
                  {"OMP_NUM_THREADS", ""},
                  {"XDG_CACHE_HOME", (directory_ / "cache").string()}};
}

FakeNode::~FakeNode() {
    for (const pid_t process : processes()) {
        kill(process, SIGKILL);
    }
}

std::vector<std::string> FakeNode::command(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {"env"};
    for (const auto& [name, value] : variables_) {
        if (value.empty()) {
            words.insert(words.end(), {"-u", name});
        }
    }
    for (const auto& [name, value] : variables_) {
        if (!value.empty()) {
            words.push_back(name + "=" + value);
        }
    }
    words.push_back(MASTIC_MPS);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

CommandResult FakeNode::mps(const std::vector<std::string>& arguments) const {
    return run_command(command(arguments), Seconds(120));
}

pid_t FakeNode::start(const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& further) const {
    std::vector<std::string> words = {"env"};
    for (const auto& [name, value] : further) {
        words.push_back(name + "=" + value);
    }
    const auto rest = command(arguments);
    words.insert(words.end(), rest.begin(), rest.end());
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execvp(pointers[0], pointers.data());
        _exit(127);
    }
    return child;
}

std::vector<std::string> FakeNode::journal() const {
    return lines_of(directory_ / "journal");
}

std::vector<std::string> FakeNode::session_names() const {
    return names_in(base());
}

std::vector<pid_t> FakeNode::daemons() const {
    std::vector<pid_t> found;
    for (const pid_t process : processes()) {
        if (colocation::program_name(process) == "nvidia-cuda-mps") {
            found.push_back(process);
        }
    }
    return found;
}

std::vector<pid_t> FakeNode::processes() const {
    const std::string mark = "FAKE_MPS_JOURNAL=" + (directory_ / "journal").string() + '\0';
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != name.npos) {
            continue;
        }
        const auto pid = static_cast<pid_t>(std::stol(name));
        if (colocation::find_process(pid) &&
            content(entry.path() / "environ").find(mark) != std::string::npos) {
            found.push_back(pid);
        }
    }
    return found;
}

bool eventually(const std::function<bool()>& done, Seconds limit) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(limit);
    while (!done()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

int wait_for_exit(pid_t child, Seconds limit) {
    int status = 0;
    if (!eventually([&] { return waitpid(child, &status, WNOHANG) == child; }, limit)) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace mastic::test
