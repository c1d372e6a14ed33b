#include <mastic/comm/shm/detail/one_shot.hpp>

#include <algorithm>
#include <cstring>

namespace mastic::comm::detail {

OneShot::OneShot(ShmLane& lane, const ShmWork& work) : lane_(lane), work_(work) {}

Step OneShot::step() {
    if (!lane_.has_come()) {
        return Step::waiting;
    }
    add_up();
    done_ += round_size();
    if (done_ == work_.buffer.count) {
        return Step::complete;
    }
    put({});
    return Step::advanced;
}

std::size_t OneShot::round_size() const {
    const std::size_t most = one_shot_bytes(lane_.size()) / size_of(work_.buffer.type);
    return std::min(most, work_.buffer.count - done_);
}

void OneShot::put(const Offer& offer) {
    std::memcpy(lane_.next_slot(), work_.at(done_), work_.bytes(round_size()));
    lane_.publish(offer);
}

// Ranks 0 and 1 start from their own message, since the first two operands may be swapped.
void OneShot::add_up() {
    const std::size_t count = round_size();
    std::byte* sum = work_.at(done_);
    const bool own_is_in = lane_.rank() <= 1;
    if (!own_is_in) {
        std::memcpy(sum, lane_.slot_of(0), work_.bytes(count));
    }
    for (int rank = own_is_in ? 0 : 1; rank < lane_.size(); ++rank) {
        if (!own_is_in || rank != lane_.rank()) {
            work_.reduce(sum, lane_.slot_of(rank), count);
        }
    }
    work_.finish(sum, count);
}

}  // namespace mastic::comm::detail
