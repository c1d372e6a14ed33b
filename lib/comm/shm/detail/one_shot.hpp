// Allreduce of small messages with one synchronisation: each rank puts its message into its slot, then adds up the slots
// of all in the order of ranks. Longer messages take as many rounds as they need.
#pragma once

#include <cstddef>

#include <mastic/comm/operation.hpp>
#include <mastic/comm/shm/detail/shm_lane.hpp>
#include <mastic/comm/shm/detail/shm_work.hpp>

namespace mastic::comm::detail {

class OneShot : public Operation {
  public:
    // At least one element.
    OneShot(ShmLane& lane, const ShmWork& work);
    void start() override { put({}); }
    // The same, and the offer of the buffer itself, should that turn out to be better.
    void start_with(const Offer& offer) { put(offer); }
    Step step() override;

  private:
    std::size_t round_size() const;  // elements
    void put(const Offer& offer);
    void add_up();

    ShmLane& lane_;
    ShmWork work_;
    std::size_t done_ = 0;  // elements
};

}  // namespace mastic::comm::detail
