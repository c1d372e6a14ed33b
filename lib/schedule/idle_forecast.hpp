// Until when idle nodes stay idle, as far as Slurm's own plan tells.
//
// Slurm's backfill scheduler is conservative backfilling (Mu'alem, Feitelson, "Utilization, predictability, workloads,
// and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001): waiting jobs get a
// planned start, in the order of their priority, and mostly the nodes too. For a job that it has not planned we take
// EASY's shadow time (Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995): the earliest moment at which enough nodes
// are free for it if all running jobs use their time limits up.
//
// Words:
//   fits       a node fits a job if it is in one of its partitions, has the memory and GPUs that it asks for on a node,
//              and the cores of a job of one node, and is not excluded; if the job names all its nodes, if it is one of
//              them. What the job does not say, or what is not known here (features, licenses), always fits.
//   planned    Slurm says when the job starts. It names the nodes or it does not; then each node that fits may be taken.
//              Of an array Slurm says the next task's only: the others may take any node that fits from then on.
//   until      the earliest of: the planned start of a job that names the node; the planned start of one that may take
//              it; the shadow time of a job without plan that may take it; the begin of a reservation. Worst case for
//              each node on its own: a job of one node that may take ten shortens all ten.
//   may go now jobs without plan that enough idle nodes fit right now, and those whose planned start is now or within half
//              a minute. Slurm has not looked at them yet, or waits for preempted jobs to end, or keeps the nodes for
//              others; so they say nothing of a time.
//   wanted     as many nodes as such a job asks for (jobs of one node share them), less those that others will leave to
//              it: free ones and those that we leave first, then those that one of our waiting jobs asks for, then those of
//              our youngest jobs, then all that we hold. Slurm takes the nodes that it likes, and plans others than it takes
//              when it preempts; but if so many stay free, it can start the job.
//
// It is no promise: plans come forward when jobs end before their limits, and new jobs come.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mastic/schedule/slurm_view.hpp>

namespace mastic::schedule {

struct NodeForecast {
    std::string node;
    std::string held_by;                   // one of our own jobs, which gives way; empty: nobody
    std::optional<TimePoint> until;        // empty: never taken, as far as anybody has said. Not before now
    std::optional<TimePoint> named_until;  // only by those that name this node; not before `until`
    int may_go_now = 0;
    bool wanted = false;
    std::string reason;  // of `until`, or why there is none
};

struct ForecastOptions {
    std::set<std::string> own_jobs;  // nodes with only such jobs count as idle, and what they ask for as nothing
    std::string partition;           // only its nodes; empty: all
    std::set<std::string> leaving_jobs = {};  // of own_jobs: told to end
    std::set<std::string> young_jobs = {};    // of own_jobs: they have just started
    // Of a job that may go now: will it? Those that do not want no node, and take none. Empty: all will.
    std::function<bool(const QueuedJob&)> believed = {};
};

// All idle nodes, by name. Adding a waiting job or a reservation that begins later never makes an `until` later.
std::vector<NodeForecast> forecast_idle(const ClusterView& view, const ForecastOptions& options = {});

// Mean of what is left, each at most `longest`; 0 without nodes. Nodes that nobody asks for count `longest`.
double mean_residual_s(const std::vector<NodeForecast>& nodes, TimePoint now, double longest_s);

}  // namespace mastic::schedule
