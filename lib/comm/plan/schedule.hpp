// A plan with its order worked out: which step comes before which on each block, and the steps of each stream. Made once
// per plan; operations share it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm {

class PlanSchedule {
  public:
    static constexpr int none = -1;

    // The steps of one direction between this rank and a peer, in order.
    struct Track {
        int peer = 0;
        bool sends = false;
        std::vector<int> steps;
    };

    explicit PlanSchedule(Plan plan);

    const Plan& plan() const { return plan_; }
    std::span<const Track> tracks() const { return tracks_; }
    const PlanStep& step(int index) const { return plan_.steps[static_cast<std::size_t>(index)]; }
    // The block that a step comes to as its `place`-th, from 0.
    int block(int step_index, int place) const;
    // The step before this one on that block, or `none`.
    int predecessor(int step_index, int place) const;
    // As what a step has this block; the block must be one of its.
    int place_of(int step_index, int block) const;

  private:
    Plan plan_;
    std::vector<Track> tracks_;
    std::vector<std::size_t> first_place_;  // by step: its first entry in predecessors_
    std::vector<int> predecessors_;
};

}  // namespace mastic::comm
