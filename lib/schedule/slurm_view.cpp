#include <mastic/schedule/slurm_view.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <mastic/schedule/slurm_answers.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t kept_odd_rows = 5;

void exclude(ClusterNode* node, const std::string& why) {
    if (node != nullptr && node->idle) {
        node->idle = false;
        node->why_not = why;
    }
}

ClusterNode* find_in(std::vector<ClusterNode>& nodes, std::string_view name) {
    const auto at = std::ranges::lower_bound(nodes, name, {}, &ClusterNode::name);
    return at != nodes.end() && at->name == name ? &*at : nullptr;
}

std::size_t count_hidden(const ClusterView& view, const std::set<std::string>& busy) {
    return static_cast<std::size_t>(std::ranges::count_if(view.nodes, [&](const ClusterNode& node) {
        return (node.state == "allocated" || node.state == "mixed") && !busy.contains(node.name);
    }));
}

}  // namespace

bool QueuedJob::waits_for_nodes() const {
    constexpr std::array others = {"Dependency",     "JobHeld",  "BeginTime",     "JobArrayTaskLimit",
                                   "Assoc",          "QOS",      "Licenses",      "Partition",
                                   "BadConstraints", "Invalid",  "MaxMem",        "AccountNotAll",
                                   "DeadLine",       "Cleaning", "launch failed", "job requeued in held",
                                   "Reservation"};
    constexpr std::string_view unavailable = "UnavailableNodes:";  // which it must have; without a name they are only in use
    const auto named = reason.find(unavailable);
    return (named == reason.npos || named + unavailable.size() == reason.size()) &&
           std::ranges::none_of(others, [&](const char* other) { return reason.starts_with(other); });
}

const ClusterNode* ClusterView::find(std::string_view name) const {
    const auto at = std::ranges::lower_bound(nodes, name, {}, &ClusterNode::name);
    return at != nodes.end() && at->name == name ? &*at : nullptr;
}

ClusterView make_view(const ViewAnswers& answers, TimePoint now) {
    OddRows odd_jobs("squeue", false);
    OddRows odd_nodes("sinfo", false);
    OddRows odd_reservations("scontrol show reservation", false);
    Jobs jobs = parse_jobs(answers.jobs, odd_jobs);
    ClusterView view;
    view.time = now;
    view.nodes = parse_nodes(answers.nodes, odd_nodes);
    view.running = std::move(jobs.running);
    view.pending = std::move(jobs.pending);
    view.reservations = parse_reservations(answers.reservations, odd_reservations);
    for (const OddRows* odd : {&odd_jobs, &odd_nodes, &odd_reservations}) {
        view.odd_rows += odd->count();
        view.odd_text += odd->count() > 0 ? odd->text(kept_odd_rows) : "";
    }
    std::set<std::string> busy;
    for (const RunningJob& job : view.running) {
        for (const std::string& name : job.nodes) {
            busy.insert(name);
            exclude(find_in(view.nodes, name), "job " + job.id + " is there");
        }
    }
    for (const Reservation& reservation : view.reservations) {
        if (reservation.start <= now && now < reservation.end) {
            for (const std::string& name : reservation.nodes) {
                ClusterNode* node = find_in(view.nodes, name);
                exclude(node, "reserved by " + reservation.name);
                if (node != nullptr && node->why_not == "reserved") {
                    node->why_not += " by " + reservation.name;
                }
            }
        }
    }
    view.hidden = count_hidden(view, busy);
    return view;
}

}  // namespace mastic::schedule
