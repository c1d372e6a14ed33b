#include "support/child_process.hpp"

#include <csignal>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const std::filesystem::path& output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : command) {
        argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, std::filesystem::path output)
    : output_(std::move(output)), pid_(fork()) {
    if (pid_ == 0) {
        become(command, output_);
    }
}

ChildProcess::~ChildProcess() {
    if (pid_ > 0) {
        kill(SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : output_(std::move(other.output_)), pid_(std::exchange(other.pid_, -1)) {}

void ChildProcess::kill(int signal) const {
    if (pid_ > 0) {
        ::kill(pid_, signal);
    }
}

std::string ChildProcess::output() const {
    return std::filesystem::exists(output_) ? read_text_file(output_) : "";
}

int ChildProcess::wait(std::chrono::seconds bound) {
    int status = 0;
    if (!eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, bound)) {
        return -1;
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool eventually(const std::function<bool()>& condition, std::chrono::seconds bound) {
    for (const auto end = std::chrono::steady_clock::now() + bound; std::chrono::steady_clock::now() < end;) {
        if (condition()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
}

}  // namespace mastic::test
