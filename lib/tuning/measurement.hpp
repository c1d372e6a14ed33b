// Times of collective operations, the same on all ranks of a group: a repetition begins after a barrier, and takes as
// long as it does on the slowest rank.
#pragma once

#include <span>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/comm/request.hpp>
#include <mastic/tuning/workload.hpp>

namespace mastic::tuning {

class Measurement {
  public:
    // Collective. `agreement`: another group of the same ranks, with native operations. `start`: when the clock of
    // elapsed() began.
    Measurement(comm::Group& group, comm::Group& agreement, comm::Clock::time_point start);

    struct Trial {
        bool possible = true;  // false: the group has no such transport
        bool right = true;     // the result is exact on all ranks
        double us = 0;
    };
    // Runs a choice, checks its result, and clears the buffers; `us` is that of a second run, unless the first took
    // long.
    Trial try_out(Workload& workload, const comm::Choice& choice);

    // One repetition of each choice in turn; us per operation. `operations`: of each choice, one after the other; 0:
    // none.
    std::vector<double> repeat(Workload& workload, std::span<const comm::Choice> choices,
                               std::span<const int> operations);

    // Since `start`, as the slowest rank said at the last agreement.
    Seconds elapsed() const { return elapsed_; }

  private:
    // Largest over the ranks. The last one is the time.
    void agree(std::vector<double>& values);

    comm::Group& group_;
    comm::Group& agreement_;
    comm::Clock::time_point start_;
    Seconds elapsed_{0};
};

// So many operations make a repetition of about 1 ms, in which a barrier's skew and a short disturbance count little.
int operations_for(double us);

}  // namespace mastic::tuning
