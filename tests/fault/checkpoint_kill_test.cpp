#include <gmock/gmock.h>

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "fault/checkpoint_kills.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::IsEmpty;

// Half of them go to each of the two ways to save. `MASTIC_KILLS=1000 ctest -R CheckpointKill` is the long
// form.
int kills_per_way() {
    const char* wanted = std::getenv("MASTIC_KILLS");
    const int kills = wanted == nullptr ? 300 : std::atoi(wanted);
    return std::max(1, kills / 2);
}

// A directory in memory if there is one: saves are so fast there that kills hit the code, not the syncs.
std::unique_ptr<TempDir> directory_in_memory() {
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before == nullptr ? "/tmp" : before;
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 1);
    }
    auto directory = std::make_unique<TempDir>();
    setenv("TMPDIR", kept.c_str(), 1);
    return directory;
}

void expect_all_right(const KillReport& report, int kills) {
    EXPECT_EQ(report.kills, kills);
    EXPECT_EQ(report.right, report.kills);
    EXPECT_THAT(report.failures, IsEmpty());
    // Else the kills would prove nothing.
    EXPECT_GT(report.inside_save, kills / 4);
    EXPECT_GE(report.committed, static_cast<std::uint64_t>(kills / 10));
}

TEST(CheckpointKill, RandomKillsDuringShardedSavesRestoreTheNewestCommittedStep) {
    const TempDir directory;
    KillPlan plan;
    plan.kills = kills_per_way();
    expect_all_right(kill_during_saves(directory.path(), plan), plan.kills);
}

TEST(CheckpointKill, RandomKillsDuringAsynchronousSavesRestoreTheNewestCommittedStep) {
    const auto directory = directory_in_memory();
    KillPlan plan;
    plan.kills = kills_per_way();
    plan.asynchronous = true;
    plan.seed = 2;
    expect_all_right(kill_during_saves(directory->path(), plan), plan.kills);
}

TEST(CheckpointKill, AKillAtAnyPointOfASaveLosesNothingAndTheNextWriterCleansUp) {
    const auto directory = directory_in_memory();
    const KillReport report = kill_at_every_point(directory->path());
    EXPECT_GT(report.kills, 50);
    EXPECT_EQ(report.right, report.kills);
    EXPECT_THAT(report.failures, IsEmpty());
}

}  // namespace
}  // namespace mastic::test
