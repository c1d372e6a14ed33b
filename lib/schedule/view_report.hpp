// A view of a cluster and the forecast of its idle nodes, for people and programs.
#pragma once

#include <string>
#include <vector>

#include <mastic/schedule/idle_forecast.hpp>

namespace mastic::schedule {

// A table of the idle nodes: until when, how long that is, why; then a line on the nodes that are not idle. Nodes with
// the same forecast share a line. Local time.
std::string view_text(const ClusterView& view, const std::vector<NodeForecast>& forecast);

// Format 1. Times are seconds since 1970; null: no end is known.
std::string view_json(const ClusterView& view, const std::vector<NodeForecast>& forecast);

}  // namespace mastic::schedule
