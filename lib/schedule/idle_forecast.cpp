#include <mastic/schedule/idle_forecast.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace mastic::schedule {
namespace {

constexpr TimePoint never = TimePoint::max();
// A plan counts full seconds, and is as old as the scheduler's last look, which comes every half a minute by default.
constexpr std::chrono::seconds about_to_start{30};

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

// Tasks may be spread unevenly over several nodes, so that only a job of one node says what it needs there.
std::int64_t cores_of_a_node(const QueuedJob& job) {
    return job.nodes == 1 ? job.cpus : 1;
}

// What a job asks of each node, apart from names: nodes that are alike in this need to be looked at once.
bool fits_kind(const ClusterNode& node, const QueuedJob& job) {
    const bool partition = std::ranges::any_of(
        job.partitions, [&](const std::string& name) { return contains(node.partitions, name); });
    return partition && cores_of_a_node(job) <= node.cpus && job.memory_mb <= node.memory_mb &&
           job.gpus <= node.gpus;
}

// The earliest moment at which the node is free of those that are there, by their time limits.
struct NodeTimes {
    std::map<std::string, TimePoint> busy_until;
    std::set<std::string> held_by_others;
    std::map<std::string, std::string> own;  // node -> own job
};

NodeTimes node_times(const ClusterView& view, const std::set<std::string>& own_jobs) {
    NodeTimes times;
    for (const RunningJob& job : view.running) {
        for (const std::string& node : job.nodes) {
            if (own_jobs.contains(job.id)) {
                times.own.emplace(node, job.id);
                continue;
            }
            times.held_by_others.insert(node);
            TimePoint& end = times.busy_until.emplace(node, view.time).first->second;
            end = std::max(end, job.end.value_or(never));
        }
    }
    for (const Reservation& reservation : view.reservations) {
        if (reservation.start <= view.time && view.time < reservation.end) {
            for (const std::string& node : reservation.nodes) {
                times.held_by_others.insert(node);
                TimePoint& end = times.busy_until.emplace(node, view.time).first->second;
                end = std::max(end, reservation.end);
            }
        }
    }
    return times;
}

// Nodes that are alike for every job that names none: their idle ones, and when each of them is free.
struct NodeKind {
    const ClusterNode* example = nullptr;
    std::vector<std::size_t> idle;  // places in the forecast
    std::vector<TimePoint> free_at;
};

class Forecaster {
  public:
    Forecaster(const ClusterView& view, const ForecastOptions& options)
        : view_(view), options_(options), times_(node_times(view, options.own_jobs)) {
        for (const ClusterNode& node : view.nodes) {
            add(node);
        }
    }

    std::vector<NodeForecast> run() {
        for (const QueuedJob& job : view_.pending) {
            if (options_.own_jobs.contains(job.id)) {
                asked_for_.insert(job.required.begin(), job.required.end());
            } else {
                consider(job);
            }
        }
        for (const QueuedJob* job : due_) {
            mark_wanted(*job);
        }
        for (const Reservation& reservation : view_.reservations) {
            if (reservation.start > view_.time) {
                for (const std::string& node : reservation.nodes) {
                    bound_named(node, reservation.start, "reservation " + reservation.name + " begins");
                }
            }
        }
        for (NodeForecast& node : forecast_) {
            finish(node);
        }
        return std::move(forecast_);
    }

  private:
    void add(const ClusterNode& node) {
        const auto own = times_.own.find(node.name);
        const bool in_use = node.state == "allocated" || node.state == "mixed";  // not: draining, ...
        const bool held = own != times_.own.end() && in_use && !times_.held_by_others.contains(node.name);
        const bool in_pool = (node.idle || held) &&
                             (options_.partition.empty() || contains(node.partitions, options_.partition));
        NodeKind& kind = kinds_[{node.partitions, node.cpus, node.memory_mb, node.gpus}];
        kind.example = &node;
        if (in_pool) {
            place_.emplace(node.name, forecast_.size());
            kind.idle.push_back(forecast_.size());
            forecast_.push_back({node.name, held ? own->second : "", {}, {}, 0, false, ""});
        }
        const auto busy = times_.busy_until.find(node.name);
        if (node.idle || held) {
            kind.free_at.push_back(view_.time);
        } else if (busy != times_.busy_until.end()) {
            kind.free_at.push_back(busy->second);
        }
    }

    void consider(const QueuedJob& job) {
        if (job.planned_start) {
            if (*job.planned_start <= view_.time + about_to_start && job.waits_for_nodes() && !may_go_now(job)) {
                return;  // its plan has been about to come true for long enough
            }
            const std::string start = "job " + job.id;
            for (const std::string& node : job.planned_nodes) {
                bound_named(node, *job.planned_start, start + " is planned there");
            }
            if (job.planned_nodes.empty()) {
                bound_all(job, *job.planned_start, start + " is planned then, and may take it");
            } else if (job.is_array()) {
                bound_all(job, *job.planned_start, "more tasks of " + start + " may take it");
            }
        } else if (job.waits_for_nodes()) {
            const TimePoint shadow = shadow_time(job);
            if (shadow <= view_.time) {
                may_go_now(job);
            } else if (shadow < never) {
                bound_all(job, shadow, "enough nodes for job " + job.id + " are free then");
            }
        }
    }

    // False: it is not believed to.
    bool may_go_now(const QueuedJob& job) {
        for_all_that_fit(job, [](NodeForecast& node) { ++node.may_go_now; });
        if (options_.believed && !options_.believed(job)) {
            return false;
        }
        due_.push_back(&job);
        return true;
    }

    // Small: others may have it without a loss for us.
    int loss_of(const NodeForecast& node) const {
        if (node.held_by.empty()) {
            return asked_for_.contains(node.node) ? 1 : 0;
        }
        if (options_.leaving_jobs.contains(node.held_by)) {
            return 0;
        }
        return options_.young_jobs.contains(node.held_by) ? 2 : 3;
    }

    // What jobs of one node leave of a node that is kept for them.
    struct Room {
        std::int64_t cpus = 0;
        std::int64_t memory_mb = 0;
        std::int64_t gpus = 0;

        bool take(const QueuedJob& job) {
            if (job.cpus > cpus || job.memory_mb > memory_mb || job.gpus > gpus) {
                return false;
            }
            cpus -= job.cpus;
            memory_mb -= job.memory_mb;
            gpus -= job.gpus;
            return true;
        }
    };

    bool shares_a_wanted_node(const QueuedJob& job) {
        bool shares = false;
        for_all_that_fit(job, [&](const NodeForecast& node) {
            const auto room = room_.find(node.node);
            shares = shares || (room != room_.end() && room->second.take(job));
        });
        return shares;
    }

    void mark_wanted(const QueuedJob& job) {
        if (job.nodes == 1 && shares_a_wanted_node(job)) {
            return;
        }
        // Of the nodes of a plan, those that others hold until then are not to be kept free.
        std::int64_t missing = job.nodes - std::ranges::count_if(job.planned_nodes, [this](const std::string& node) {
                                   return times_.held_by_others.contains(node);
                               });
        for (int loss = 0; loss <= 3 && missing > 0; ++loss) {
            for_all_that_fit(job, [&](NodeForecast& node) {
                if (missing > 0 && !node.wanted && loss_of(node) == loss) {
                    node.wanted = true;
                    --missing;
                    if (job.nodes == 1) {
                        const ClusterNode& whole = *view_.find(node.node);
                        room_[node.node] = {whole.cpus, whole.memory_mb, whole.gpus};
                        room_[node.node].take(job);
                    }
                }
            });
        }
    }

    // Of all nodes of the kinds that fit: names are left out, which can only make it earlier.
    TimePoint shadow_time(const QueuedJob& job) {
        std::vector<TimePoint>& free_at =
            free_at_[{job.partitions, cores_of_a_node(job), job.memory_mb, job.gpus}];
        if (free_at.empty()) {
            for (const auto& [key, kind] : kinds_) {
                if (fits_kind(*kind.example, job)) {
                    free_at.insert(free_at.end(), kind.free_at.begin(), kind.free_at.end());
                }
            }
            std::ranges::sort(free_at);
        }
        const auto wanted = static_cast<std::size_t>(job.nodes);
        return wanted <= free_at.size() ? free_at[wanted - 1] : never;
    }

    template <class Do>
    void for_all_that_fit(const QueuedJob& job, const Do& act) {
        const bool only_required = job.required.size() >= static_cast<std::size_t>(job.nodes);
        for (const auto& [key, kind] : kinds_) {
            if (!kind.idle.empty() && fits_kind(*kind.example, job)) {
                for (const std::size_t place : kind.idle) {
                    const std::string& name = forecast_[place].node;
                    if (!contains(job.excluded, name) && (!only_required || contains(job.required, name))) {
                        act(forecast_[place]);
                    }
                }
            }
        }
    }

    void bound_all(const QueuedJob& job, TimePoint at, const std::string& reason) {
        for_all_that_fit(job, [&](NodeForecast& node) { bound(node, at, reason); });
    }

    void bound_named(const std::string& name, TimePoint at, const std::string& reason) {
        if (const auto place = place_.find(name); place != place_.end()) {
            NodeForecast& node = forecast_[place->second];
            const TimePoint from_now = std::max(at, view_.time);
            node.named_until = std::min(node.named_until.value_or(never), from_now);
            bound(node, at, reason);
        }
    }

    void bound(NodeForecast& node, TimePoint at, const std::string& reason) {
        const TimePoint from_now = std::max(at, view_.time);
        if (!node.until || from_now < *node.until) {
            node.until = from_now;
            node.reason = reason;
        }
    }

    void finish(NodeForecast& node) {
        if (node.until) {
            return;
        }
        const ClusterNode* known = view_.find(node.node);
        if (node.may_go_now > 0) {
            node.reason = "waiting jobs may take it at any moment";
        } else {
            node.reason =
                known->planned ? "Slurm keeps it for a job that has no planned start" : "nobody asks for it";
        }
    }

    using KindKey = std::tuple<std::vector<std::string>, std::int64_t, std::int64_t, std::int64_t>;

    const ClusterView& view_;
    const ForecastOptions& options_;
    const NodeTimes times_;
    std::map<KindKey, NodeKind> kinds_;
    std::map<KindKey, std::vector<TimePoint>> free_at_;  // sorted, by what a job asks of each node
    std::vector<NodeForecast> forecast_;
    std::map<std::string, std::size_t> place_;
    std::set<std::string> asked_for_;     // nodes, by own jobs that wait
    std::vector<const QueuedJob*> due_;  // that may go now, and are believed to
    std::map<std::string, Room> room_;   // of nodes that are wanted by jobs of one node
};

}  // namespace

std::vector<NodeForecast> forecast_idle(const ClusterView& view, const ForecastOptions& options) {
    return Forecaster(view, options).run();
}

double mean_residual_s(const std::vector<NodeForecast>& nodes, TimePoint now, double longest_s) {
    double sum = 0;
    for (const NodeForecast& node : nodes) {
        const double left = node.until ? std::chrono::duration<double>(*node.until - now).count() : longest_s;
        sum += std::min(left, longest_s);
    }
    return nodes.empty() ? 0 : sum / static_cast<double>(nodes.size());
}

}  // namespace mastic::schedule
