#include <mastic/job/gres.hpp>

#include <algorithm>
#include <charconv>

namespace mastic::job {
namespace {

constexpr std::int64_t most_gpus = 1'000'000;  // on a node: more is no number to believe

// "gpu", "gpu:2", "gpu:a100:4(S:0-1)"
std::int64_t gpus_in_item(std::string_view item) {
    item = item.substr(0, item.find('('));
    if (item.starts_with("gres:") || item.starts_with("gres/")) {
        item.remove_prefix(5);
    }
    if (item == "gpu") {
        return 1;
    }
    if (!item.starts_with("gpu:")) {
        return 0;
    }
    const std::string_view number = item.substr(item.rfind(':') + 1);
    std::int64_t gpus = 0;
    std::from_chars(number.data(), number.data() + number.size(), gpus);
    return std::clamp<std::int64_t>(gpus, 0, most_gpus);
}

}  // namespace

std::int64_t gpus_in_gres(std::string_view gres) {
    std::int64_t gpus = 0;
    while (!gres.empty()) {
        const auto end = std::min(gres.find(','), gres.size());
        gpus += gpus_in_item(gres.substr(0, end));
        gres.remove_prefix(std::min(end + 1, gres.size()));
    }
    return gpus;
}

}  // namespace mastic::job
