#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <sys/stat.h>

#include <mastic/core/file.hpp>
#include <mastic/schedule/manager/state_directory.hpp>

#include "schedule/manager/orders.hpp"
#include "support/expect_error.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::schedule {
namespace {

namespace fs = std::filesystem;
using mastic::test::expect_error;
using mastic::test::TempDir;
using test::order_named;
using test::state_with;
using testing::ElementsAre;

TEST(StateDirectory, IsPrivateAndKeepsItsId) {
    const TempDir dir;
    const StateDirectory made = StateDirectory::create_or_open(dir / "deep/state/");
    struct stat status {};
    ASSERT_EQ(stat(made.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0700u);
    EXPECT_EQ(made.id().size(), 8u);
    EXPECT_EQ(StateDirectory::open(dir / "deep/state").id(), made.id());
    EXPECT_EQ(StateDirectory::create_or_open(dir / "deep/state").id(), made.id());
    EXPECT_NE(StateDirectory::create_or_open(dir / "other").id(), made.id());
}

TEST(StateDirectory, ManyThatFoundItAtOnceAgree) {
    const TempDir dir;
    std::vector<std::string> ids(8);
    std::vector<std::thread> founders;
    for (std::string& id : ids) {
        founders.emplace_back([&dir, &id] { id = StateDirectory::create_or_open(dir / "state").id(); });
    }
    for (std::thread& founder : founders) {
        founder.join();
    }
    EXPECT_THAT(ids, testing::Each(ids[0]));
}

TEST(StateDirectory, RefusesWhatIsNone) {
    const TempDir dir;
    dir.write("home/letter.txt", "x");
    expect_error(ExitCode::usage, "other things are in it",
                 [&] { StateDirectory::create_or_open(dir / "home"); });
    EXPECT_THAT(mastic::test::names_in(dir / "home"), ElementsAre("letter.txt"));
    expect_error(ExitCode::usage, "is no state directory", [&] { StateDirectory::open(dir / "none"); });
    expect_error(ExitCode::io, "cannot make the directory",
                 [&] { StateDirectory::create_or_open(dir / "home/letter.txt/s"); });
}

// Slurm would look for a pattern in the names of the logs, or for further directives in a script.
TEST(StateDirectory, RefusesAPathThatSlurmMisreads) {
    const TempDir dir;
    for (const char* name : {"a%jb", "back\\slash", "two\nlines"}) {
        expect_error(ExitCode::usage, "Slurm cannot write", [&] { StateDirectory::create_or_open(dir / name); });
        EXPECT_FALSE(fs::exists(dir / name));
    }
}

TEST(StateDirectory, ForgetsWhatASubmissionThatWasKilledHasLeft) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    const fs::path old = state.path() / "trainings/.draft-1", young = state.path() / "trainings/.draft-2";
    for (const fs::path& draft : {old, young}) {
        fs::create_directory(draft);
        mastic::test::write_file(draft / "order.json", "{");
    }
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    state.forget_drafts();
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(young)) << "it may be about to be published";
    EXPECT_THAT(state.training_ids(), ElementsAre("a"));
}

TEST(StateDirectory, SaysWhatToDoAboutDamage) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    mastic::test::write_file(state.path() / "round.json", "{\"format\": 1");
    expect_error(ExitCode::data, "move it away", [&] { (void)state.round(); });
    mastic::test::write_file(state.path() / "state.json", "");
    expect_error(ExitCode::data, "squeue shows the ID", [&] { StateDirectory::open(state.path()); });
}

TEST(StateDirectory, RefusesOneThatOthersMayWriteTo) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    ASSERT_EQ(chmod(state.path().c_str(), 0770), 0);
    expect_error(ExitCode::io, "chmod go-w", [&] { StateDirectory::open(state.path()); });
    ASSERT_EQ(chmod(state.path().c_str(), 0755), 0);  // the owner lets others read
    EXPECT_EQ(StateDirectory::open(state.path()).id(), state.id());
}

TEST(StateDirectory, RefusesThatOfANewerVersion) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    write_file_atomically(state.path() / "state.json", R"({"format": 7, "id": "x"})");
    expect_error(ExitCode::data, "newer mastic (format 7", [&] { StateDirectory::open(state.path()); });
    expect_error(ExitCode::data, "newer mastic (format 7",
                 [&] { StateDirectory::create_or_open(state.path()); });
}

TEST(StateDirectory, IdsAreMadeOfNames) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    EXPECT_THAT(state.publish({order_named("a"), order_named("a")}), ElementsAre("a", "a-2"));
    EXPECT_THAT(state.publish({order_named("../My net/ü")}), ElementsAre("My-net---"));
    EXPECT_THAT(state.publish({order_named(std::string(80, 'x'))}), ElementsAre(std::string(40, 'x')));
    EXPECT_THAT(state.publish({order_named("...")}), ElementsAre("training"));
    EXPECT_EQ(state.load("a-2").order.config, "/home/ana/a.toml");
    EXPECT_EQ(state.load("a").record.state, TrainingState::queued);
}

TEST(StateDirectory, SubmissionsAtOnceGetIdsOfTheirOwn) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    std::vector<std::thread> users;
    for (int user = 0; user < 4; ++user) {
        users.emplace_back([&state] {
            for (int i = 0; i < 10; ++i) {
                state.publish({order_named("a")});
            }
        });
    }
    for (std::thread& user : users) {
        user.join();
    }
    EXPECT_EQ(state.trainings().size(), 40u);
    for (const Training& training : state.trainings()) {
        EXPECT_EQ(training.problem, "");
    }
}

TEST(StateDirectory, ListsByTimeOfSubmission) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    state.publish({order_named("late", 30), order_named("early", 10), order_named("between", 20)});
    EXPECT_THAT(state.training_ids(), ElementsAre("early", "between", "late"));
}

TEST(StateDirectory, DamageOfOneTrainingIsItsOwn) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"good", "bad"});
    write_file_atomically(state.path() / "trainings/bad/record.json",
                          std::string_view("{\"format\": 1, \"sta"));
    EXPECT_EQ(state.load("good").problem, "");
    EXPECT_THAT(state.load("bad").problem, testing::HasSubstr("record.json is damaged"));
    expect_error(ExitCode::data, "record.json is damaged", [&] { state.require("bad"); });
}

TEST(StateDirectory, KnowsWhetherItIsStillThere) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    EXPECT_NO_THROW(state.check());
    fs::rename(state.path(), dir / "away");
    expect_error(ExitCode::io, "state.json", [&] { state.check(); });
    const StateDirectory other = StateDirectory::create_or_open(state.path());
    expect_error(ExitCode::io, "is not the state directory that it was", [&] { state.check(); });
    EXPECT_NO_THROW(other.check());
}

TEST(StateDirectory, TellsDamageFromAFileThatCannotBeRead) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a", "b", "c"});
    write_file_atomically(state.path() / "trainings/a/record.json", std::string_view("{"));
    fs::remove(state.path() / "trainings/b/record.json");
    fs::remove(state.path() / "trainings/c/record.json");
    fs::create_directory(state.path() / "trainings/c/record.json");  // reading it fails, as after an error of the file system
    EXPECT_FALSE(state.load("a").unread);
    EXPECT_FALSE(state.load("b").unread);
    EXPECT_TRUE(state.load("c").unread);
    EXPECT_THAT(state.load("c").problem, testing::HasSubstr("record.json"));
}

TEST(StateDirectory, KnowsNamesThatWereMeant) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"fashion", "text"});
    expect_error(ExitCode::usage, "did you mean 'fashion'?", [&] { state.require("fashoin"); });
    expect_error(ExitCode::usage, "one of fashion, text", [&] { state.require("zzzzzz"); });
    EXPECT_EQ(state.require("text").id, "text");
}

TEST(StateDirectory, RecordsComeBack) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    TrainingRecord record;
    record.state = TrainingState::stopping;
    record.pilots = {{"17", "n3", "computing", 12.5}, {"18", "", "pending", 13}};
    record.samples = 1'234'567'890'123;
    record.target_reason = "\xff not UTF-8";
    state.write_record("a", record);
    const TrainingRecord back = state.load("a").record;
    EXPECT_EQ(back.state, TrainingState::stopping);
    ASSERT_EQ(back.pilots.size(), 2u);
    EXPECT_EQ(back.pilots[0].node, "n3");
    EXPECT_EQ(back.pilots[0].since_s, 12.5);
    EXPECT_EQ(back.samples, 1'234'567'890'123);
    EXPECT_EQ(state.load("a").problem, "");

    state.write_drained({true, {"n1", "n2"}});
    EXPECT_TRUE(state.drained().all);
    EXPECT_THAT(state.drained().nodes, ElementsAre("n1", "n2"));

    EXPECT_FALSE(state.round());
    RoundRecord round;
    round.waits_for = {"nodes"};
    round.used.charge(7, 86'400 * 3 + 5);
    state.write_round(round);
    EXPECT_EQ(state.round()->used.node_seconds_today, 7);
    EXPECT_EQ(state.round()->used.today_s, 86'400 * 3);
}

TEST(StateDirectory, ASecondManagerIsRefused) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    EXPECT_FALSE(state.manager());
    {
        const auto lock = state.lock({"n1", 4, "77", "now"});
        EXPECT_EQ(state.manager()->job_id, "77");
        expect_error(ExitCode::io, "the state directory", [&] { (void)state.lock({"n2", 5, "", "now"}); });
    }
    EXPECT_FALSE(state.manager());
}

TEST(StateDirectory, FullDiskPublishesAllOrNothing) {
    const mastic::test::TmpfsMount disk(parse_bytes("256K"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const StateDirectory state = StateDirectory::create_or_open(disk / "state");
    const std::vector<TrainingOrder> many(100, order_named("a"));
    expect_error(ExitCode::io, "No space left", [&] { state.publish(many); });
    EXPECT_THAT(mastic::test::names_in(state.path() / "trainings"), testing::IsEmpty());
    EXPECT_THAT(state.publish({order_named("a")}), ElementsAre("a"));
}

}  // namespace
}  // namespace mastic::schedule
