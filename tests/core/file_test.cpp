#include <mastic/core/file.hpp>

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic {
namespace {

using test::expect_error;
using test::TempDir;
using test::TmpfsMount;
using Names = std::vector<std::string>;

constexpr std::size_t mebibyte = 1 << 20;

unsigned mode_of(const std::filesystem::path& path) {
    struct stat status {};
    stat(path.c_str(), &status);
    return status.st_mode & 07777;
}

TEST(ReadFile, ReturnsEveryByte) {
    const TempDir directory;
    std::string content("a\0b\r\n\xff", 6);
    content += std::string(100'000, 'x');
    const auto path = directory.write("file", content);
    EXPECT_EQ(read_text_file(path), content);
    const auto bytes = read_file(path);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), content);
    EXPECT_EQ(read_text_file(directory.write("empty", "")), "");
}

TEST(ReadFile, ReadsFilesThatDoNotSayTheirSize) {
    EXPECT_NE(read_text_file("/proc/self/status").find("\nPid:"), std::string::npos);
}

TEST(ReadFile, SaysPathAndReason) {
    const TempDir directory;
    const auto missing = directory / "missing";
    expect_error(ExitCode::io,
                 "cannot read " + missing.string() + ": No such file or directory\n  hint: check",
                 [&] { read_file(missing); });
    expect_error(ExitCode::io, "Is a directory", [&] { read_file(directory.path()); });
}

TEST(WriteFileAtomically, ReplacesTheContentAndLeavesNothingElse) {
    const TempDir directory;
    const auto path = directory.write("file", "old and longer");
    write_file_atomically(path, std::string_view("new"));
    EXPECT_EQ(read_text_file(path), "new");
    EXPECT_EQ(directory.names(), Names{"file"});
}

TEST(WriteFileAtomically, AppliesTheExactModeWhateverTheUmask) {
    const TempDir directory;
    const mode_t before = umask(0077);
    for (const unsigned mode : {0644u, 0600u, 0755u, 0666u}) {
        write_file_atomically(directory / "file", std::string_view("x"), mode);
        EXPECT_EQ(mode_of(directory / "file"), mode);
    }
    umask(before);
}

TEST(WriteFileAtomically, AcceptsARelativeNameWithoutDirectory) {
    const TempDir directory;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(directory.path());
    write_file_atomically("file", std::string_view("x"));
    std::filesystem::current_path(before);
    EXPECT_EQ(directory.names(), Names{"file"});
}

TEST(WriteFileAtomically, KeepsTheOldFileOnAFullDisk) {
    const TmpfsMount disk(Bytes{mebibyte});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    write_file_atomically(disk / "file", std::string_view("old"));
    const std::string too_much(2 * mebibyte, 'x');
    expect_error(ExitCode::io, "No space left on device (needed 2.0 MiB, free 1020 KiB)\n  hint: free space",
                 [&] { write_file_atomically(disk / "file", too_much); });
    EXPECT_EQ(read_text_file(disk / "file"), "old");
    EXPECT_EQ(test::names_in(disk.path()), Names{"file"});
}

TEST(WriteFileAtomically, SaysWhatAReadOnlyDiskIs) {
    TmpfsMount disk(Bytes{mebibyte});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    write_file_atomically(disk / "file", std::string_view("old"));
    disk.make_read_only();
    expect_error(ExitCode::io, "Read-only file system\n  hint: choose a directory that you may write to",
                 [&] { write_file_atomically(disk / "file", std::string_view("new")); });
    EXPECT_EQ(read_text_file(disk / "file"), "old");
}

TEST(WriteFileAtomically, RemovesItsTemporaryFileIfTheRenameFails) {
    const TempDir directory;
    directory.write("target/inside", "x");
    expect_error(ExitCode::io, "Is a directory",
                 [&] { write_file_atomically(directory / "target", std::string_view("new")); });
    EXPECT_EQ(directory.names(), Names{"target"});
}

TEST(WriteFileAtomically, TakesThePlaceOfFilesOnly) {
    const TempDir directory;
    directory.write("real", "old");
    std::filesystem::create_symlink(directory / "real", directory / "link");
    write_file_atomically(directory / "link", std::string_view("new"));
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
    EXPECT_EQ(read_text_file(directory / "real"), "new");
    ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
    expect_error(ExitCode::io, "no regular file",
                 [&] { write_file_atomically(directory / "fifo", std::string_view("new")); });
    EXPECT_TRUE(std::filesystem::is_fifo(directory / "fifo"));
}

TEST(WriteFileAtomically, FailsInADirectoryThatDoesNotExist) {
    const TempDir directory;
    expect_error(ExitCode::io, "No such file or directory",
                 [&] { write_file_atomically(directory / "no/file", std::string_view("x")); });
}

TEST(WriteFileAtomically, NeverShowsAMixtureWhenThreadsWriteTheSameFile) {
    const TempDir directory;
    const auto write = [&](char letter) {
        for (int i = 0; i < 20; ++i) {
            write_file_atomically(directory / "file", std::string(50'000, letter));
        }
    };
    write('a');
    std::thread first(write, 'a');
    std::thread second(write, 'b');
    for (int i = 0; i < 100; ++i) {
        const auto seen = read_text_file(directory / "file");
        EXPECT_EQ(seen, std::string(50'000, seen.at(0)));
    }
    first.join();
    second.join();
    EXPECT_EQ(directory.names(), Names{"file"});
}

TEST(SyncDirectory, FailsForWhatIsNotADirectory) {
    const TempDir directory;
    sync_directory(directory.path());
    const auto file = directory.write("file", "");
    expect_error(ExitCode::io, "Not a directory", [&] { sync_directory(file); });
}

TEST(FreeSpace, IsThatOfTheNearestExistingParent) {
    const TmpfsMount disk(Bytes{mebibyte});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    EXPECT_EQ(free_space(disk.path()).count, mebibyte);
    EXPECT_EQ(free_space(disk / "not/yet/made").count, mebibyte);
    write_file_atomically(disk / "file", std::string(mebibyte / 2, 'x'));
    EXPECT_EQ(free_space(disk.path()).count, mebibyte / 2);
}

TEST(LineWriter, AppendsLinesToWhatIsThere) {
    const TempDir directory;
    const auto path = directory.write("lines", "first\n");
    LineWriter(path).write_line("second");
    LineWriter(path).write_line("third");
    EXPECT_EQ(read_text_file(path), "first\nsecond\nthird\n");
}

TEST(LineWriter, StartsItsOwnLineAfterAnIncompleteOne) {
    const TempDir directory;
    const auto path = directory.write("lines", "whole\ncut of");
    LineWriter(path).write_line("next");
    EXPECT_EQ(read_text_file(path), "whole\ncut of\nnext\n");
}

TEST(LineWriter, KeepsLinesOfSeveralWritersWhole) {
    const TempDir directory;
    std::vector<std::thread> threads;
    for (const char letter : {'a', 'b', 'c'}) {
        threads.emplace_back([&, letter] {
            LineWriter writer(directory / "lines");
            for (int i = 0; i < 200; ++i) {
                writer.write_line(std::string(97, letter));
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    const auto content = read_text_file(directory / "lines");
    ASSERT_EQ(content.size(), 3u * 200u * 98u);
    for (std::size_t begin = 0; begin < content.size(); begin += 98) {
        EXPECT_EQ(content.substr(begin, 98), std::string(97, content[begin]) + "\n");
    }
}

TEST(LineWriter, LeavesNothingOfALineThatDoesNotFit) {
    const TmpfsMount disk(Bytes{mebibyte});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    LineWriter writer(disk / "lines");
    writer.write_line("first");
    const std::string too_long(2 * mebibyte, 'x');
    expect_error(ExitCode::io, "No space left on device (needed 2.0 MiB",
                 [&] { writer.write_line(too_long); });
    writer.write_line("second");
    EXPECT_EQ(read_text_file(disk / "lines"), "first\nsecond\n");
}

TEST(LineWriter, DoesNotWriteIntoWhatWasDeleted) {
    const TempDir directory;
    LineWriter writer(directory / "lines");
    writer.write_line("first");
    std::filesystem::remove(directory / "lines");
    expect_error(ExitCode::io, "was removed while it was being written",
                 [&] { writer.write_line("second"); });
}

TEST(LineWriter, SaysWhatItCannotOpen) {
    const TempDir directory;
    expect_error(ExitCode::io, (directory / "no/lines").string(),
                 [&] { LineWriter(directory / "no/lines"); });
}

}  // namespace
}  // namespace mastic
