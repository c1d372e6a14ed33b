#include <mastic/engine/share_balancer.hpp>

#include <array>
#include <span>
#include <utility>

namespace mastic::engine {

ShareBalancer::ShareBalancer(comm::Group& group, std::uint64_t global_batch, std::uint64_t depth)
    : group_(group),
      depth_(depth),
      shares_(data::equal_shares(global_batch, static_cast<std::size_t>(group.size()))),
      schedule_(std::make_shared<data::ShareSchedule>(shares_)) {}

data::PlanSource ShareBalancer::plans(data::DistributedSampler sampler) const {
    return data::shared_plans(std::move(sampler), group_.rank(), schedule_);
}

std::vector<std::optional<data::StepCost>> ShareBalancer::costs_of_all() {
    const auto own = fit_.estimate();
    const std::array<double, 2> mine = {own ? own->fixed.count() : 0.0, own ? own->per_sample.count() : 0.0};
    std::vector<double> all(2 * shares_.size());
    group_.allgather(comm::view_of(std::span(mine)), comm::view_of(std::span(all)), {0, "step costs"});
    std::vector<std::optional<data::StepCost>> costs;
    for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
        const data::StepCost cost{Seconds(all[2 * rank]), Seconds(all[2 * rank + 1])};
        costs.push_back(cost.per_sample.count() > 0 ? std::optional(cost) : std::nullopt);
    }
    return costs;
}

void ShareBalancer::observe(std::uint64_t samples, Seconds computing) {
    fit_.observe(samples, computing);
    steps_ += 1;
}

std::optional<data::Shares> ShareBalancer::agree() {
    if (steps_ < next_look_ || shares_.size() < 2) {
        return std::nullopt;
    }
    data::Shares next = data::next_shares(costs_of_all(), shares_);
    next_look_ = steps_ + interval;
    if (next == shares_) {
        return std::nullopt;
    }
    shares_ = std::move(next);
    schedule_->change(steps_ + depth_, shares_);
    next_look_ += depth_;
    return shares_;
}

}  // namespace mastic::engine
