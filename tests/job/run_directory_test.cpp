#include <csignal>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>

#include "support/expect_error.hpp"
#include "support/in_child.hpp"
#include "support/temp_dir.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::job {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const RunOwner me{"n1", 4, "123", "2026-01-31T12:00:00+0100"};

TEST(RunDirectory, IsMadeWithItsParentsAndFolders) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "a/b/run");
    for (const auto& folder : {run.path(), run.logs(), run.traces(), run.ranks(), run.checkpoints()}) {
        struct stat status = {};
        ASSERT_EQ(stat(folder.c_str(), &status), 0) << folder;
        EXPECT_TRUE(S_ISDIR(status.st_mode));
        EXPECT_EQ(status.st_mode & 0777u, 0755u) << folder;
    }
    EXPECT_EQ(run.log_file(3), temp / "a/b/run/logs/rank-3.log");
    EXPECT_EQ(run.trace_file(0), temp / "a/b/run/trace/rank-0.json");
}

TEST(RunDirectory, OpensAnExistingOneAndLeavesItsFiles) {
    const test::TempDir temp;
    temp.write("run/logs/rank-0.log", "old\n");
    const auto run = RunDirectory::create_or_open(temp / "run/");
    EXPECT_EQ(read_text_file(run.log_file(0)), "old\n");
    EXPECT_EQ(run.path().filename(), "run");
}

TEST(RunDirectory, RefusesAPathThatIsOrLeadsThroughAFile) {
    const test::TempDir temp;
    temp.write("file", "x");
    test::expect_error(ExitCode::io, "file", [&] { RunDirectory::create_or_open(temp / "file"); });
    test::expect_error(ExitCode::io, "a file lies there",
                       [&] { RunDirectory::create_or_open(temp / "file/run"); });
    EXPECT_EQ(read_text_file(temp / "file"), "x");
}

TEST(RunDirectory, RefusesAReadOnlyFileSystem) {
    test::TmpfsMount disk(parse_bytes("1M"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const auto run = RunDirectory::create_or_open(disk / "run");
    disk.make_read_only();
    test::expect_error(ExitCode::io, "Read-only", [&] { RunDirectory::create_or_open(disk / "other"); });
    test::expect_error(ExitCode::io, "Read-only", [&] { (void)run.lock(me); });
    test::expect_error(ExitCode::io, "Read-only", [&] { check_writable(run.path()); });
}

// Locks in a child, which reports success by a byte and then waits to be killed.
pid_t lock_in_child(const RunDirectory& run, const RunOwner& owner) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = test::start_child([&] {
        const auto lock = run.lock(owner);
        if (write(ready[1], "x", 1) != 1) {
            return 1;
        }
        pause();
        return 0;
    });
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

TEST(RunLock, RefusesASecondProcessNamingTheOwner) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "run");
    const pid_t child = lock_in_child(run, me);
    test::expect_error(ExitCode::io, "in use by job 123 (pid 4 on node n1 since 2026-01-31T12:00:00+0100)",
                       [&] { (void)run.lock(me); });
    test::expect_error(ExitCode::io, "scancel 123", [&] { (void)run.lock(me); });
    kill(child, SIGKILL);
    test::wait_status(child);
}

TEST(RunLock, IsFreeOnceItsOwnerWasKilled) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "run");
    const pid_t child = lock_in_child(run, me);
    kill(child, SIGKILL);
    test::wait_status(child);
    EXPECT_TRUE(fs::exists(run.owner_file()));  // what the dead one left does not count
    const auto lock = run.lock({"n2", 5, "124", "now"});
    EXPECT_THAT(read_text_file(run.owner_file()), HasSubstr("\"124\""));
}

TEST(RunLock, IsReleasedWithItsScope) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "run");
    {
        auto lock = run.lock(me);
        const auto moved = std::move(lock);
        EXPECT_TRUE(fs::exists(run.owner_file()));
        EXPECT_EQ(test::run_child([&] {
                      const auto second = run.lock(me);
                      return 0;
                  }),
                  test::child_threw);
    }
    EXPECT_FALSE(fs::exists(run.owner_file()));
    EXPECT_EQ(test::run_child([&] {
                  const auto second = run.lock(me);
                  return 0;
              }),
              0);
}

TEST(RunLock, IsNotInheritedByStartedPrograms) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "run");
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t sleeper = test::start_child([&] {
        auto lock = run.lock(me);
        const pid_t started = fork();
        if (started == 0) {
            execlp("sleep", "sleep", "20", nullptr);
            _exit(1);
        }
        return write(ready[1], &started, sizeof started) == sizeof started ? 0 : 1;
    });
    pid_t started = 0;
    ASSERT_EQ(read(ready[0], &started, sizeof started), static_cast<ssize_t>(sizeof started));
    test::wait_status(sleeper);
    // The exec that closes the descriptor may still be on its way.
    bool locked = false;
    for (int attempt = 0; attempt < 1000 && !locked; ++attempt) {
        try {
            const auto lock = run.lock(me);
            locked = true;
        } catch (const Error&) {
            usleep(5000);
        }
    }
    EXPECT_TRUE(locked);
    kill(started, SIGKILL);
}

TEST(RunLock, RefusesEvenIfTheOwnerFileIsDamaged) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "run");
    const auto lock = run.lock(me);
    for (const char* content : {"", "{", "[]", "{\"pid\": \"x\"}"}) {
        test::write_file(run.owner_file(), content);
        test::expect_error(ExitCode::io, "in use by another process", [&] { (void)run.lock(me); });
    }
}

TEST(RunLock, NamesAProcessOutsideOfSlurmByItsPid) {
    const test::TempDir temp;
    const auto run = RunDirectory::create_or_open(temp / "run");
    const auto lock = run.lock(this_process("laptop", ""));
    test::expect_error(ExitCode::io, "in use by pid " + std::to_string(getpid()) + " on node laptop since 20",
                       [&] { (void)run.lock(me); });
}

TEST(Space, IsRefusedWithTheNeededAndTheFreeSize) {
    test::TmpfsMount disk(parse_bytes("4M"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    EXPECT_NO_THROW(check_space(disk.path(), parse_bytes("4M"), "two checkpoints"));
    test::expect_error(ExitCode::io, "no room for two checkpoints in ",
                       [&] { check_space(disk / "not/yet/made", parse_bytes("12M"), "two checkpoints"); });
    test::expect_error(ExitCode::io, "12.0 MiB, of which 4.0 MiB are free",
                       [&] { check_space(disk.path(), parse_bytes("12M"), "two checkpoints"); });
}

TEST(Writable, FindsAFullDiskAndLeavesNothing) {
    test::TmpfsMount disk(parse_bytes("64K"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    EXPECT_NO_THROW(check_writable(disk.path()));
    EXPECT_TRUE(test::names_in(disk.path()).empty());
    test::write_file(disk / "filler", std::string(64 * 1024, 'x'));
    test::expect_error(ExitCode::io, "No space left", [&] { check_writable(disk.path()); });
    EXPECT_EQ(test::names_in(disk.path()), std::vector<std::string>{"filler"});
}

TEST(Writable, FailsForADirectoryThatIsMissing) {
    const test::TempDir temp;
    test::expect_error(ExitCode::io, "No such file", [&] { check_writable(temp / "missing"); });
}

}  // namespace
}  // namespace mastic::job
