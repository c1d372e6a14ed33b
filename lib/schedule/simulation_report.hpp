// The outcome of a simulation for people and programs.
#pragma once

#include <string>
#include <vector>

#include <mastic/report/html_page.hpp>
#include <mastic/schedule/simulation.hpp>
#include <mastic/schedule/site_log.hpp>

namespace mastic::schedule {

struct SimulationReport {
    std::string log_name;
    const SiteLog* log = nullptr;
    const SimulationSettings* settings = nullptr;
    std::vector<PolicyRun> runs;
};

// What the page of a live manager says besides, and differently.
struct LiveNotes {
    std::vector<std::string> nodes;  // names by number
    std::vector<std::string> jobs;
    std::string definitions;
    report::HtmlTable trainings;
    report::HtmlTable happened;  // folded away
};

// "4,608 nodes, 10 d, on average 386.3 idle".
std::string describe(const IdleTrace& trace);

std::string simulation_text(const SimulationReport& report);
std::string simulation_json(const SimulationReport& report);
// One self-contained page: what was gained, where the idle node-seconds went, progress over time, nodes being filled.
std::string simulation_page(const SimulationReport& report);
// The same of what has really happened: one run.
std::string live_page(const SimulationReport& report, const LiveNotes& notes);

}  // namespace mastic::schedule
