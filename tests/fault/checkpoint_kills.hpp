// Kills processes that save checkpoints and judges what a restart finds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mastic::test {

struct KillPlan {
    int kills = 300;
    int writers = 2;
    std::uint64_t seed = 1;
    bool asynchronous = false;  // saves by AsyncCheckpointWriter
};

struct KillReport {
    int kills = 0;
    int right = 0;                      // restored the newest committed state, complete, nothing skipped
    int inside_save = 0;                // kills that hit an unfinished save
    std::uint64_t committed = 0;        // saves that finished, in all lives
    std::vector<std::string> failures;  // one text per wrong restore
};

// Again and again: a child goes on from the restored step and saves without pause; it gets SIGKILL at a
// random moment; then the restore must give exactly the state of a step that the child had begun, and none
// older than the last one that it knew to be committed.
KillReport kill_during_saves(const std::filesystem::path& directory, const KillPlan& plan);

// A fixed sequence of saves (with a replaced step and retention) that kills itself at the `pass`-th fault
// point it comes by, for pass = 0, 1, ...; the report's kills is the number of points. It ends when a child
// survives.
KillReport kill_at_every_point(const std::filesystem::path& directory);

}  // namespace mastic::test
