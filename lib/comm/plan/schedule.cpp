#include <mastic/comm/plan/schedule.hpp>

#include <algorithm>
#include <utility>

namespace mastic::comm {

PlanSchedule::PlanSchedule(Plan plan) : plan_(std::move(plan)) {
    std::vector<int> last(static_cast<std::size_t>(plan_.blocks), none);
    for (int index = 0; index < static_cast<int>(plan_.steps.size()); ++index) {
        const PlanStep& now = step(index);
        first_place_.push_back(predecessors_.size());
        for (int place = 0; place < now.block_count; ++place) {
            predecessors_.push_back(std::exchange(last[static_cast<std::size_t>(block(index, place))], index));
        }
        const bool sends = now.action == Action::send;
        auto track = std::find_if(tracks_.begin(), tracks_.end(), [&now, sends](const Track& candidate) {
            return candidate.peer == now.peer && candidate.sends == sends;
        });
        if (track == tracks_.end()) {
            track = tracks_.insert(track, {now.peer, sends, {}});
        }
        track->steps.push_back(index);
    }
}

int PlanSchedule::block(int step_index, int place) const {
    return (step(step_index).first_block + place) % plan_.blocks;
}

int PlanSchedule::predecessor(int step_index, int place) const {
    return predecessors_[first_place_[static_cast<std::size_t>(step_index)] + static_cast<std::size_t>(place)];
}

int PlanSchedule::place_of(int step_index, int block) const {
    return (block - step(step_index).first_block + plan_.blocks) % plan_.blocks;
}

}  // namespace mastic::comm
