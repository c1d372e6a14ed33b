#include <mastic/schedule/manager/pilot.hpp>

namespace mastic::schedule {
namespace {

constexpr std::string_view prefix = "mastic-";

}  // namespace

std::string pilot_name(std::string_view training, std::string_view state_id) {
    return std::string(prefix) + std::string(training) + "@" + std::string(state_id);
}

std::optional<std::string> training_of_pilot(std::string_view job_name, std::string_view state_id) {
    const auto at = job_name.rfind('@');
    if (!job_name.starts_with(prefix) || at == job_name.npos || at <= prefix.size() ||
        job_name.substr(at + 1) != state_id) {
        return std::nullopt;
    }
    return std::string(job_name.substr(prefix.size(), at - prefix.size()));
}

}  // namespace mastic::schedule
