#include <mastic/data/share_schedule.hpp>

#include <utility>

namespace mastic::data {

PlanSource shared_plans(DistributedSampler sampler, int rank, std::shared_ptr<const ShareSchedule> schedule) {
    return [sampler = std::move(sampler), rank, schedule = std::move(schedule),
            step = std::uint64_t{0}](StepPlan& plan) mutable {
        sampler.next_into(plan, rank, schedule->at(step++));
        return true;
    };
}

}  // namespace mastic::data
