#include <mastic/engine/admission.hpp>

#include <algorithm>
#include <sstream>

#include <mastic/data/batch_shares.hpp>

namespace mastic::engine {
namespace {

std::optional<data::StepCost> parse_offer(const std::string& offer) {
    std::istringstream words(offer);
    double fixed = 0, per_sample = 0;
    if (!(words >> fixed >> per_sample) || !(fixed >= 0) || !(per_sample > 0)) {
        return std::nullopt;
    }
    return data::StepCost{Seconds(fixed), Seconds(per_sample)};
}

Seconds balanced_step(const std::vector<data::StepCost>& costs, std::uint64_t global_batch) {
    return data::step_time(costs, data::balanced_shares(costs, global_batch));
}

}  // namespace

std::string to_offer(const data::StepCost& cost) {
    std::ostringstream text;
    text.precision(9);
    text << cost.fixed.count() << ' ' << cost.per_sample.count();
    return text.str();
}

std::string why_not_needed(const StepCosts::ByRank& present, std::size_t members, const std::string& offer,
                           std::uint64_t batch_without, std::uint64_t batch_with) {
    const std::optional<data::StepCost> newcomer = parse_offer(offer);
    const bool all_known = std::ranges::all_of(present, [](const auto& cost) { return cost.has_value(); });
    if (!newcomer || !all_known || present.empty() || present.size() != members || batch_without < members) {
        return "";
    }
    std::vector<data::StepCost> costs;
    for (const auto& cost : present) {
        costs.push_back(*cost);
    }
    if (data::would_help(costs, *newcomer, batch_without, batch_with)) {
        return "";
    }
    const Seconds without = balanced_step(costs, batch_without);
    if (batch_with == members) {
        return "each member has a single sample of a step already";
    }
    costs.push_back(*newcomer);
    const auto step_of = [](std::uint64_t batch) { return "a step of " + std::to_string(batch) + " samples computes for "; };
    return step_of(batch_without) + human(without) + ", and " + step_of(batch_with) + human(balanced_step(costs, batch_with)) +
           " with this member, which needs " + human(newcomer->per_sample) + " for a sample and " +
           human(newcomer->fixed) + " for each step";
}

}  // namespace mastic::engine
