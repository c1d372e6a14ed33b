#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/checkpoint_state.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "support/tmpfs_mount.hpp"

#include <mastic/checkpoint/async_writer.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

using namespace mastic::checkpoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

constexpr std::uint64_t page = 4096;

// Leaves `bytes` free on the file system.
void fill_up_to(const fs::path& filler, std::uint64_t bytes) {
    const std::uint64_t free = free_space(filler.parent_path()).count;
    write_file(filler, std::string(free > bytes ? free - bytes : 0, 'x'));
}

// Case 9 (PyTables 695, h5py 914), at every amount of space that could run out.
TEST(CheckpointDisk, AFullDiskIsAnIoErrorThatLeavesTheOldCheckpointAndNoTemporary) {
    const TmpfsMount disk(parse_bytes("1M"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const fs::path directory = disk / "checkpoints";
    const CheckpointStore store(directory, small_store_options());
    save_step(store, 1, 2);
    int refused = 0;
    std::uint64_t room = 0;
    for (;; room += 2 * page) {
        fill_up_to(disk / "filler", room);
        try {
            save_step(store, 2, 2);
            break;
        } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(error.code(), ExitCode::io) << error.what();
            EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
            store.abandon(2);
        }
        fs::remove(disk / "filler");
        EXPECT_THAT(names_in(directory), ElementsAre("step-000000000001")) << room;
        const auto restored = store.restore();
        ASSERT_TRUE(restored);
        EXPECT_EQ(difference_from_step(restored->state, 1, 2), "");
    }
    EXPECT_GT(refused, 10);
    EXPECT_EQ(store.restore()->manifest.step, 2u);
}

TEST(CheckpointDisk, AWriterThatFailsLeavesNothingOfItsOwn) {
    const TmpfsMount disk(parse_bytes("256K"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const CheckpointStore store(disk / "checkpoints", small_store_options());
    fill_up_to(disk / "filler", 70 << 10);  // room for the first image, not for the second
    expect_error(ExitCode::io, "free space", [&] { store.write_shard(1, 0, 1, state_of_step(1, 0, 1)); });
    EXPECT_THAT(names_in(disk / "checkpoints"), IsEmpty());
}

TEST(CheckpointDisk, AFullDiskInTheBackgroundIsTheOutcomeOfThatWrite) {
    const TmpfsMount disk(parse_bytes("1M"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const CheckpointStore store(disk / "checkpoints", small_store_options());
    fill_up_to(disk / "filler", 8 * page);
    AsyncCheckpointWriter writer(store, 0, 1);
    ASSERT_TRUE(writer.submit(1, state_of_step(1, 0, 1)));
    const auto failed = writer.wait(Seconds(30));
    ASSERT_TRUE(failed);
    expect_error(ExitCode::io, "No space left", [&] { failed->value(); });

    fs::remove(disk / "filler");
    ASSERT_TRUE(writer.submit(2, state_of_step(2, 0, 1)));
    const auto written = writer.wait(Seconds(30));
    ASSERT_TRUE(written);
    EXPECT_EQ(written->step, 2u);
    EXPECT_NO_THROW(written->value());
}

TEST(CheckpointDisk, AReadOnlyFileSystemRefusesTheSaveAndStillRestores) {
    TmpfsMount disk(parse_bytes("1M"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const CheckpointStore store(disk / "checkpoints", small_store_options());
    save_step(store, 1, 1);
    disk.make_read_only();
    expect_error(ExitCode::io, "Read-only file system", [&] { save_step(store, 2, 1); });
    EXPECT_EQ(difference_from_step(store.restore()->state, 1, 1), "");
}

TEST(CheckpointDisk, ADirectoryWithoutWritePermissionIsAnIoErrorWithAHint) {
    const TempDir directory;
    const fs::path locked = directory / "run";
    fs::create_directory(locked);
    fs::permissions(directory.path(), fs::perms(0755));
    fs::permissions(locked, fs::perms(0555));
    // Root may write anywhere: so the attempt is made by a child that is nobody.
    const pid_t child = fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0 && setuid(nobody) != 0) {
            _exit(1);
        }
        try {
            save_step(CheckpointStore(locked), 1, 1);
        } catch (const Error& error) {
            const bool explained = error.full_message().find("choose a run directory") != std::string::npos;
            _exit(explained ? static_cast<int>(error.code()) : 2);
        }
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::io));
    EXPECT_THAT(names_in(locked), IsEmpty());
}

}  // namespace
}  // namespace mastic::test
