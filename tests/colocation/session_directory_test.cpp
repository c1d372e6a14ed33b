#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mastic/colocation/session_directory.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;
using Mode = FileLock::Mode;

class Directory : public testing::Test {
  protected:
    Environment below(const fs::path& base) const {
        return [base](const std::string& name) {
            return name == "MASTIC_MPS_DIRECTORY" ? std::optional(base.string()) : std::nullopt;
        };
    }
    SessionDirectory made(const std::string& job = "job") const {
        const SessionDirectory directory =
            SessionDirectory::of({"host", job, {"GPU-a"}}, below(base_.path()));
        directory.create();
        return directory;
    }
    test::TempDir base_;
};

TEST_F(Directory, IsTheSameForTheRanksOfAJobAndPrivate) {
    const SessionDirectory directory = made();
    EXPECT_EQ(made().path(), directory.path());
    EXPECT_NE(made("another").path(), directory.path());
    struct stat status {};
    ASSERT_EQ(stat(directory.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_EQ(SessionDirectory::all(below(base_.path())).size(), 2u);
}

TEST_F(Directory, IsRefusedIfOthersMayLookIn) {
    const SessionDirectory directory = made();
    fs::permissions(directory.path(), fs::perms::all);
    test::expect_error(ExitCode::environment, "not a directory of this user's alone",
                       [&] { directory.create(); });
    fs::remove(directory.path());
    fs::create_directory_symlink("/tmp", directory.path());
    test::expect_error(ExitCode::environment, "not a directory of this user's alone",
                       [&] { directory.create(); });
}

TEST_F(Directory, HasRoomForTheNamesOfSockets) {
    const fs::path deep = base_ / std::string(80, 'x');
    test::expect_error(ExitCode::environment, "too long a path for the sockets of MPS", [&] {
        SessionDirectory::of({"host", "job", {}}, below(deep));
    });
    const Environment nothing = [](const std::string&) { return std::nullopt; };
    EXPECT_LE(
        (SessionDirectory::of({std::string(200, 'h'), "job", {}}, nothing).mps().pipe / "control_privileged")
            .string()
            .size(),
        107u);
}

TEST_F(Directory, RemembersItsJobStateAndMembers) {
    const SessionDirectory directory = made();
    EXPECT_FALSE(directory.read_key().has_value());
    EXPECT_FALSE(directory.read_state().has_value());
    directory.write_key({"host", "job", {"GPU-a", "GPU-b"}});
    EXPECT_EQ(directory.read_key()->devices, (std::vector<std::string>{"GPU-a", "GPU-b"}));
    directory.write_state({false, "no device"});
    EXPECT_EQ(directory.read_state()->problem, "no device");
    directory.write_state({true, ""});
    EXPECT_TRUE(directory.read_state()->ready);
    const ProcessId own = *find_process(getpid());
    directory.add_member(own);
    directory.add_member({own.pid + 1'000'000, 1});  // no such process
    EXPECT_THAT(directory.living_members(), testing::ElementsAre(own));
    directory.add_member({own.pid, own.start + 1});  // its number was given again
    EXPECT_TRUE(directory.living_members().empty());
}

TEST_F(Directory, LockShowsThatItWasRemoved) {
    const SessionDirectory directory = made();
    auto member = FileLock::try_take(directory.lock(), Mode::shared);
    ASSERT_TRUE(member.has_value());
    EXPECT_TRUE(FileLock::try_take(directory.lock(), Mode::shared).has_value())
        << "members do not exclude each other";
    EXPECT_FALSE(FileLock::try_take(directory.lock(), Mode::exclusive).has_value());
    EXPECT_TRUE(member->wait_exclusive());
    EXPECT_FALSE(FileLock::try_take(directory.lock(), Mode::shared).has_value());
    directory.remove();
    EXPECT_FALSE(fs::exists(directory.path()));
    EXPECT_FALSE(FileLock::try_take(directory.lock(), Mode::shared).has_value()) << "no directory, no lock";
    directory.create();
    EXPECT_TRUE(FileLock::try_take(directory.lock(), Mode::exclusive).has_value()) << "of the new file";
    EXPECT_FALSE(member->wait_exclusive()) << "the old file has no name any more";
}

}  // namespace
}  // namespace mastic::colocation
