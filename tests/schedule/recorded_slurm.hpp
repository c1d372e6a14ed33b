// What Slurm 22.05 answered in a cluster of 12 nodes of tests/cluster/slurm-lab: jobs that run, wait with and without a
// plan, for another, for an operator; a reservation that holds and one that comes; drained nodes and a silent one.
#pragma once

#include <mastic/core/file.hpp>
#include <mastic/schedule/slurm_answers.hpp>

namespace mastic::test {

inline const schedule::TimePoint recorded_at = std::chrono::system_clock::from_time_t(1796009854);

inline schedule::ViewAnswers recorded_answers() {
    const std::filesystem::path folder = RECORDED_SLURM;
    return {read_text_file(folder / "squeue.txt"), read_text_file(folder / "sinfo.txt"),
            read_text_file(folder / "reservations.txt")};
}

inline schedule::ClusterView recorded_view() {
    return schedule::make_view(recorded_answers(), recorded_at);
}

}  // namespace mastic::test
