#include <mastic/schedule/view_report.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include <mastic/job/host_list.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::schedule {
namespace {

std::string local_time(TimePoint time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts = {};
    localtime_r(&seconds, &parts);
    std::array<char, 32> text = {};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string reasons_of_others(const ClusterView& view) {
    std::map<std::string, int> counts;
    for (const ClusterNode& node : view.nodes) {
        if (!node.idle) {
            ++counts[node.why_not];
        }
    }
    std::string text;
    for (const auto& [why, count] : counts) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + why;
    }
    return text;
}

nlohmann::ordered_json seconds_or_null(const std::optional<TimePoint>& time) {
    return time ? nlohmann::ordered_json(std::chrono::system_clock::to_time_t(*time)) : nullptr;
}

}  // namespace

std::string view_text(const ClusterView& view, const std::vector<NodeForecast>& forecast) {
    std::map<std::tuple<TimePoint, std::string>, std::vector<std::string>> groups;
    for (const NodeForecast& node : forecast) {
        groups[{node.until.value_or(TimePoint::max()), node.reason}].push_back(node.node);
    }
    report::TextTable table{{"nodes", "idle", "until", "for", "why"}, {}};
    for (auto& [key, nodes] : groups) {
        std::ranges::sort(nodes, {}, [](const std::string& node) { return std::pair(node.size(), node); });
        const auto& [until, reason] = key;
        const bool known = until != TimePoint::max();
        table.rows.push_back({job::compress_host_list(nodes), std::to_string(nodes.size()),
                              known ? local_time(until) : "open", known ? human(until - view.time) : "",
                              reason});
    }
    const std::string others = reasons_of_others(view);
    return (forecast.empty() ? "no node is idle\n" : report::to_text(table)) +
           (others.empty() ? "" : "not idle: " + others + "\n");
}

std::string view_json(const ClusterView& view, const std::vector<NodeForecast>& forecast) {
    nlohmann::ordered_json idle = nlohmann::ordered_json::array();
    for (const NodeForecast& node : forecast) {
        idle.push_back({{"node", node.node},
                        {"until_s", seconds_or_null(node.until)},
                        {"named_until_s", seconds_or_null(node.named_until)},
                        {"may_go_now", node.may_go_now},
                        {"why", node.reason}});
    }
    nlohmann::ordered_json others = nlohmann::ordered_json::array();
    for (const ClusterNode& node : view.nodes) {
        if (!node.idle) {
            others.push_back({{"node", node.name}, {"why_not", node.why_not}});
        }
    }
    const nlohmann::ordered_json document = {{"format", 1},
                                             {"time_s", seconds_or_null(view.time)},
                                             {"idle", idle},
                                             {"not_idle", others},
                                             {"odd_rows", view.odd_rows},
                                             {"nodes_of_hidden_jobs", view.hidden}};
    constexpr auto repair = nlohmann::ordered_json::error_handler_t::replace;  // a reason may hold any bytes
    return document.dump(2, ' ', false, repair) + "\n";
}

}  // namespace mastic::schedule
