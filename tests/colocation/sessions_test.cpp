// Sessions that overlap, are left over, or lose their keeper.
#include <algorithm>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/colocation/process.hpp>

#include "colocation/fake_node.hpp"

namespace mastic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Ranks of one job: they have this test as their common parent, as those of mpiexec have its proxy.
std::map<std::string, std::string> rank_of(int rank, int size) {
    return {{"PMI_RANK", std::to_string(rank)},
            {"PMI_SIZE", std::to_string(size)},
            {"MPI_LOCALRANKID", std::to_string(rank)},
            {"MPI_LOCALNRANKS", std::to_string(size)}};
}

// Ends when the file `end` appears; says "here" in a file of its own.
std::vector<std::string> patient_program(const FakeNode& node, int rank) {
    const std::string dir = node.directory().path().string();
    return {"--mps",
            "on",
            "--",
            "sh",
            "-c",
            "touch " + dir + "/here" + std::to_string(rank) + "; while [ ! -e " + dir + "/end" +
                std::to_string(rank) + " ]; do sleep 0.02; done"};
}

class Sessions : public testing::Test {
  protected:
    pid_t start(int rank, int size = 2) {
        std::filesystem::remove(node.directory() / ("here" + std::to_string(rank)));
        const pid_t pid = node.start(patient_program(node, rank), rank_of(rank, size));
        EXPECT_TRUE(eventually(
            [&] { return std::filesystem::exists(node.directory() / ("here" + std::to_string(rank))); }));
        return pid;
    }
    void end(int rank) { node.directory().write("end" + std::to_string(rank), ""); }
    std::vector<pid_t> keepers() const {
        std::vector<pid_t> found = node.processes();
        std::erase_if(found, [](pid_t pid) { return colocation::program_name(pid) != "mastic-mps-keep"; });
        return found;
    }
    nlohmann::json status() const { return nlohmann::json::parse(node.mps({"status", "--json"}).output); }
    void kill_all() {
        for (const pid_t process : node.processes()) {
            kill(process, SIGKILL);
        }
    }

    FakeNode node;
};

TEST_F(Sessions, LastUntilTheLastRankEnds) {
    const pid_t first = start(0);
    const pid_t second = start(1);
    const auto shown = status();
    ASSERT_EQ(shown.size(), 1u);
    EXPECT_EQ(shown[0].at("state"), "ready");
    EXPECT_EQ(shown[0].at("daemon_answers"), true);
    EXPECT_EQ(shown[0].at("servers").size(), 1u);
    EXPECT_THAT(shown[0].at("ranks").get<std::vector<int>>(), testing::UnorderedElementsAre(first, second));
    EXPECT_EQ(shown[0].at("devices"), nlohmann::json({"GPU-aaaa", "GPU-bbbb"}));
    end(0);
    EXPECT_EQ(wait_for_exit(first), 0);
    EXPECT_THAT(node.mps({"clean"}).output, HasSubstr("nothing is left over"));
    EXPECT_THAT(node.session_names(), SizeIs(1));
    end(1);
    EXPECT_EQ(wait_for_exit(second), 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
    EXPECT_THAT(node.mps({"status"}).output, HasSubstr("no session"));
    EXPECT_THAT(node.journal(), SizeIs(2)) << "one start, one end";
}

TEST_F(Sessions, OfTwoJobsAreApart) {
    const pid_t first = start(0, 1);
    const pid_t other = node.start({"--mps", "on", "--", "true"});  // no rank of mpiexec: a job of its own
    EXPECT_EQ(wait_for_exit(other), 0);
    EXPECT_TRUE(eventually([&] { return node.session_names().size() == 1; }));
    EXPECT_EQ(status()[0].at("ranks")[0], first);
    end(0);
    EXPECT_EQ(wait_for_exit(first), 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

TEST_F(Sessions, OutliveTheirKeeper) {
    const pid_t first = start(0);
    ASSERT_THAT(keepers(), SizeIs(1));
    kill(keepers().front(), SIGKILL);
    const pid_t second = start(1);  // makes another keeper, which goes on with the daemon
    EXPECT_THAT(keepers(), SizeIs(1));
    EXPECT_THAT(node.journal(), SizeIs(1));
    for (const int rank : {0, 1}) {
        end(rank);
    }
    EXPECT_EQ(wait_for_exit(first), 0);
    EXPECT_EQ(wait_for_exit(second), 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

// A whole cgroup at once, and with a daemon that got out of it.
TEST_F(Sessions, ThatWereKilledWholeAreCleaned) {
    for (const bool with_daemon : {true, false}) {
        const pid_t rank = start(0, 1);
        if (with_daemon) {
            kill_all();
        } else {
            kill(rank, SIGKILL);
            for (const pid_t keeper : keepers()) {
                kill(keeper, SIGKILL);
            }
        }
        EXPECT_EQ(wait_for_exit(rank), -SIGKILL);
        ASSERT_TRUE(eventually([&] { return status()[0].at("state") == "left over"; }));
        EXPECT_THAT(node.mps({"clean", "--dry-run"}).output, HasSubstr("would remove"));
        EXPECT_THAT(node.session_names(), SizeIs(1));
        EXPECT_THAT(node.mps({"clean"}).output, HasSubstr("removed " + node.base().string()));
        EXPECT_TRUE(node.all_gone());
    }
}

TEST_F(Sessions, ThatWereKilledWholeAreRemovedByTheNextStart) {
    const pid_t rank = start(0, 1);
    kill_all();
    EXPECT_EQ(wait_for_exit(rank), -SIGKILL);
    EXPECT_EQ(node.mps({"--mps", "on", "--", "true"}).exit_code, 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

// As daemons do; the launcher's lock then no longer tells that the rank is there.
TEST_F(Sessions, LastForProgramsThatCloseDescriptors) {
    const std::string dir = node.directory().path().string();
    const pid_t rank = node.start(
        {"--mps", "on", "--", "bash", "-c",
         "for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -lt 3 ] || eval \"exec $n>&-\"; done; touch " + dir +
             "/here; while [ ! -e " + dir + "/end ]; do sleep 0.02; done"});
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(node.directory() / "here"); }));
    EXPECT_THAT(node.mps({"clean"}).output, HasSubstr("nothing is left over"));
    EXPECT_EQ(status()[0].at("daemon_answers"), true);
    node.directory().write("end", "");
    EXPECT_EQ(wait_for_exit(rank), 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

TEST_F(Sessions, HoldNoOutputOfTheJobOpen) {
    // run_command ends with the launcher; what is left must not have its pipes.
    ASSERT_EQ(node.mps({"--mps", "on", "--", "true"}).exit_code, 0);
    const pid_t rank = start(0, 1);
    for (const pid_t process : node.processes()) {
        if (process != rank && colocation::program_name(process).starts_with("mastic-mps")) {
            const CommandResult files =
                run_command({"ls", "-l", "/proc/" + std::to_string(process) + "/fd"}, Seconds(10));
            EXPECT_THAT(files.output, testing::Not(HasSubstr("pipe:"))) << files.output;
        }
    }
    end(0);
    EXPECT_EQ(wait_for_exit(rank), 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

}  // namespace
}  // namespace mastic::test
