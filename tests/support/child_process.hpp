// A program as a process of a test: started, signalled, watched through what it prints. It is killed with its owner.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mastic::test {

class ChildProcess {
  public:
    // Standard output and error go to the file `output`.
    ChildProcess(const std::vector<std::string>& command, std::filesystem::path output);
    ~ChildProcess();
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;

    void kill(int signal) const;
    std::string output() const;
    pid_t pid() const { return pid_; }  // -1 once it has ended and wait() has told
    // The exit code, or 128 + signal; -1 if it runs on after `bound`.
    int wait(std::chrono::seconds bound = std::chrono::seconds(60));

  private:
    std::filesystem::path output_;
    pid_t pid_;
};

// True once `condition` holds; false after `bound`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::seconds bound = std::chrono::seconds(30));

}  // namespace mastic::test
