// The idle nodes that no job has, and which of them a job gets or gives back.
//
// Nodes that became idle together are a cohort: one job of somebody else gave them back, and often one takes them
// again (on Summit 76 nodes of a cohort go at 2.4 different times). If a cohort is in one job, its departure stops one
// job instead of five.
#pragma once

#include <map>
#include <vector>

namespace mastic::schedule {

struct IdleNode {
    int node = 0;
    double since_s = 0;  // became idle: names its cohort
};

class NodePool {
  public:
    explicit NodePool(bool by_cohort) : by_cohort_(by_cohort) {}

    int size() const { return size_; }
    void add(const IdleNode& node);
    void remove(const IdleNode& node);  // it must be there

    // `count` of them for a job that has `held`. By cohort: first of cohorts that it has a part of, then the cohort of
    // exactly this size, else the largest that fits, else a part of the smallest. Otherwise the ones with the highest
    // numbers.
    std::vector<IdleNode> take(int count, const std::vector<IdleNode>& held);

  private:
    using Cohorts = std::map<double, std::vector<int>>;
    Cohorts::iterator choose(int count, const std::vector<double>& held);

    bool by_cohort_;
    int size_ = 0;
    Cohorts cohorts_;              // by cohort, or all under one key
    std::map<int, double> since_;  // by node
};

// The indices of `count` of a job's nodes to give back, in ascending order. By cohort: whole cohorts as far as possible,
// the smallest first, of the last one a part. Otherwise the ones that it got last.
std::vector<std::size_t> nodes_to_release(const std::vector<IdleNode>& held, int count, bool by_cohort);

}  // namespace mastic::schedule
