// What a rank that failed alone leaves in the run directory: it takes the others down before rank 0 can write run.json.
#pragma once

#include <optional>
#include <string>

#include <mastic/core/error.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::report {

struct RankFailure {
    int rank = 0;
    ExitCode code = ExitCode::collective;
    std::string message;
};

std::string to_string(const RankFailure& failure);  // "rank 2: no space left"

// failure.json. The last one to write stays. Error(io).
void write_rank_failure(const job::RunDirectory& directory, const RankFailure& failure);
// None if there is no file or it is damaged.
std::optional<RankFailure> read_rank_failure(const job::RunDirectory& directory);
// At the start of a run: what an earlier one left.
void remove_rank_failure(const job::RunDirectory& directory);

}  // namespace mastic::report
