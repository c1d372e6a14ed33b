#include <mastic/engine/share_balancer.hpp>

#include <array>
#include <span>
#include <utility>

namespace mastic::engine {

ShareBalancer::ShareBalancer(comm::Group& group, std::uint64_t global_batch, std::uint64_t depth, StepCosts& costs,
                             const std::vector<bool>& late_ranks)
    : group_(group),
      depth_(depth),
      costs_(costs),
      shares_(data::equal_shares(global_batch, static_cast<std::size_t>(group.size()))) {
    const data::Shares equal = shares_;
    shares_ = data::next_shares(costs_of_all(), shares_);
    untold_ = shares_ != equal;
    schedule_ = std::make_shared<data::ShareSchedule>(shares_);
    schedule_->leave_out_of_first_step(late_ranks);
}

data::PlanSource ShareBalancer::plans(data::DistributedSampler sampler) const {
    return data::shared_plans(std::move(sampler), group_.rank(), schedule_);
}

StepCosts::ByRank ShareBalancer::costs_of_all() {
    const auto own = costs_.own();
    const std::array<double, 2> mine = {own ? own->fixed.count() : 0.0, own ? own->per_sample.count() : 0.0};
    std::vector<double> all(2 * shares_.size());
    group_.allgather(comm::view_of(std::span(mine)), comm::view_of(std::span(all)), {0, "step costs"});
    StepCosts::ByRank costs;
    for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
        const data::StepCost cost{Seconds(all[2 * rank]), Seconds(all[2 * rank + 1])};
        costs.push_back(cost.per_sample.count() > 0 ? std::optional(cost) : std::nullopt);
    }
    costs_.know(costs);
    return costs;
}

std::optional<data::Shares> ShareBalancer::agree() {
    const std::uint64_t step = step_++;
    if (std::exchange(untold_, false)) {
        return shares_;
    }
    if (step < next_look_) {
        return std::nullopt;
    }
    data::Shares next = data::next_shares(costs_of_all(), shares_);
    next_look_ = step + interval;
    if (next == shares_) {
        return std::nullopt;
    }
    shares_ = std::move(next);
    schedule_->change(step + depth_, shares_);
    next_look_ += depth_;
    return shares_;
}

}  // namespace mastic::engine
