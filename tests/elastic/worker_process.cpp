#include "worker_process.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.hpp"

namespace mastic::test {

namespace {

std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

[[noreturn]] void become(const WorkerSettings& settings, const std::string& record) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(100);
    if (!settings.netns.empty()) {
        const int file = ::open(settings.netns.c_str(), O_RDONLY | O_CLOEXEC);
        if (::setns(file, CLONE_NEWNET) != 0) {
            ::_exit(99);
        }
    }
    const int errors = ::open((record + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(errors, 1);
    ::dup2(errors, 2);
    ::execl(ELASTIC_WORKER, ELASTIC_WORKER, settings.directory.c_str(), record.c_str(),
            std::to_string(settings.steps).c_str(), std::to_string(settings.step_ms).c_str(),
            std::to_string(settings.snapshot_kb).c_str(), std::to_string(settings.rate_kb).c_str(),
            settings.version.c_str(), nullptr);
    ::_exit(98);
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerSettings& settings) {
    static int number = 0;
    record_ = settings.directory + "-record-" + std::to_string(number++);
    pid_ = ::fork();
    if (pid_ == 0) {
        become(settings, record_);
    }
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_), record_(std::move(other.record_)) {}

WorkerProcess::~WorkerProcess() {
    if (pid_ > 0 && runs()) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

void WorkerProcess::signal(int number) {
    ASSERT_TRUE(runs());
    ::kill(pid_, number);
}

bool WorkerProcess::runs() {
    if (status_ == -1 && ::waitpid(pid_, &status_, WNOHANG) != pid_) {
        status_ = -1;
        return true;
    }
    return false;
}

int WorkerProcess::wait_for_end(std::chrono::milliseconds bound) {
    if (!eventually([this] { return !runs(); }, bound)) {
        return -1;
    }
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string WorkerProcess::record() const {
    return content_of(record_);
}

std::string WorkerProcess::errors() const {
    return content_of(record_ + ".err");
}

std::map<std::int64_t, RecordedStep> WorkerProcess::steps() const {
    std::map<std::int64_t, RecordedStep> found;
    std::istringstream lines(record());
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string kind;
        std::int64_t step = 0;
        RecordedStep recorded;
        if (words >> kind >> step >> recorded.hash >> recorded.generation >> recorded.members &&
            kind == "step") {
            EXPECT_TRUE(found.emplace(step, recorded).second) << "step " << step << " is there twice";
        }
    }
    return found;
}

std::int64_t WorkerProcess::last_step() const {
    const auto all = steps();
    return all.empty() ? -1 : all.rbegin()->first;
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds bound) {
    for (const auto end = std::chrono::steady_clock::now() + bound; std::chrono::steady_clock::now() < end;) {
        if (condition()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
}

// Steps that it got from another member, as a laggard or newcomer, are not in its record; their sums are in its hash.
void expect_right_steps(const WorkerProcess& worker) {
    Sums expected;
    for (const auto& [step, recorded] : worker.steps()) {
        while (expected.step < step) {
            expected.add(share_of(expected.step + 1, 0, 1));
        }
        ASSERT_EQ(recorded.hash, expected.hash) << "pid " << worker.pid() << ", step " << step;
    }
}

}  // namespace mastic::test
