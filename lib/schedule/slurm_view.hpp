// What a Slurm cluster says of itself at one moment: nodes, jobs that run and that wait, reservations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/job/deadline.hpp>

namespace mastic::schedule {

using job::TimePoint;

struct ClusterNode {
    std::string name;
    std::string state;                    // as sinfo says: "idle", "mixed", "drained", "down*", ...
    std::vector<std::string> partitions;  // that are up; sorted
    std::int64_t cpus = 0;
    std::int64_t memory_mb = 0;
    std::int64_t gpus = 0;
    bool idle = false;     // the whole node can be used now
    std::string why_not;   // if not idle: "allocated", "drained: bad fan", "reserved by maint"
    bool planned = false;  // Slurm says that it keeps the node for a job
};

struct RunningJob {  // also one that ends, or is suspended: it has its nodes
    std::string id;
    std::string user;
    std::string partition;
    std::string name;
    std::vector<std::string> nodes;
    std::optional<TimePoint> end;  // by its time limit; it may end earlier. Empty: no limit
};

struct QueuedJob {
    std::string id;  // "17"; of an array "17_[1-4%2]", one row for all of its tasks that wait
    std::string user;
    std::vector<std::string> partitions;  // any of them will do
    std::string name;
    std::string reason;  // why it waits: "Resources", "Priority", "Dependency", ...
    std::int64_t priority = 0;
    std::int64_t nodes = 1;
    std::int64_t cpus = 1;                   // of all nodes
    std::int64_t memory_mb = 0;              // of a node; 0: not said
    std::int64_t gpus = 0;                   // of a node
    std::vector<std::string> required;       // nodes that it must have
    std::vector<std::string> excluded;       // nodes that it must not have
    std::string reservation;                 // that it waits for
    std::optional<TimePoint> planned_start;  // of an array: of its next task
    std::vector<std::string> planned_nodes;  // may be empty although the start is planned

    bool is_array() const { return id.find('_') != std::string::npos; }
    // It waits for nodes, and for nothing else such as another job, an operator, or a limit of its user.
    bool waits_for_nodes() const;
};

struct Reservation {
    std::string name;
    TimePoint start;
    TimePoint end;
    std::vector<std::string> nodes;
};

struct ClusterView {
    TimePoint time;
    std::vector<ClusterNode> nodes;  // by name
    std::vector<RunningJob> running;
    std::vector<QueuedJob> pending;
    std::vector<Reservation> reservations;
    std::size_t odd_rows = 0;  // of the answers, left out
    std::string odd_text;      // the first of them, a line each
    // Nodes in use whose job squeue does not show, as with PrivateData=jobs: then other people's plans are not seen
    // either, and forecasts are too long.
    std::size_t hidden = 0;

    const ClusterNode* find(std::string_view name) const;  // null: no such node
};

struct ViewAnswers;  // slurm_answers.hpp

// The view of what squeue, sinfo and scontrol answered. A node is idle if sinfo says idle or planned, without a mark (not responding, powered down, to
// be rebooted, ...), in a partition that is up, no CPU is allocated, no job runs on it, and no reservation holds now.
ClusterView make_view(const ViewAnswers& answers, TimePoint now);

}  // namespace mastic::schedule
