// Runs part of a test in a child process: for what signals, locks and affinities do to a process.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace mastic::test {

constexpr int child_threw = 99;

// The child ends with the value of `body`, or with child_threw.
inline pid_t start_child(const std::function<int()>& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child != 0) {
        return child;
    }
    constexpr unsigned longest_test = 60;
    alarm(longest_test);
    int code = child_threw;
    try {
        code = body();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    _exit(code);
}

// As waitpid gives it; see WIFEXITED and WTERMSIG.
inline int wait_status(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

// The exit code, or minus the signal that ended the child.
inline int run_child(const std::function<int()>& body) {
    const int status = wait_status(start_child(body));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace mastic::test
