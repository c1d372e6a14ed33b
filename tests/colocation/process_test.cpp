#include <mastic/colocation/process.hpp>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace mastic::test {
namespace {

TEST(Processes, AreKnownByNumberAndStart) {
    const auto own = colocation::find_process(getpid());
    ASSERT_TRUE(own.has_value());
    EXPECT_TRUE(colocation::is_alive(*own));
    EXPECT_FALSE(colocation::is_alive({own->pid, own->start + 1}));
    EXPECT_EQ(colocation::parent_of(getpid()), getppid());
}

// Of a process that ends between open and read, /proc says ESRCH.
TEST(Processes, MayEndWhileTheyAreRead) {
    std::atomic<pid_t> current{0};
    std::atomic<bool> ends{false};
    std::thread forks([&] {
        for (int i = 0; i < 1000; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                _exit(0);
            }
            current = child;
            waitpid(child, nullptr, 0);
        }
        ends = true;
    });
    while (!ends) {
        if (const pid_t pid = current; pid > 0) {
            colocation::find_process(pid);
            colocation::program_name(pid);
            colocation::uses_pipe(pid, "/tmp");
        }
    }
    forks.join();
    EXPECT_FALSE(colocation::find_process(current).has_value());
}

}  // namespace
}  // namespace mastic::test
