// The policies that need no model of what rescaling costs.
#include <algorithm>

#include <mastic/schedule/allocator.hpp>
#include <mastic/schedule/policies.hpp>

namespace mastic::schedule {
namespace {

std::vector<Target> keep_all(const Situation& situation) {
    std::vector<Target> targets;
    for (const JobState& job : situation.jobs) {
        targets.push_back({job.nodes.held(), ""});
    }
    return targets;
}

class None : public Policy {
  public:
    std::vector<Target> decide(const Situation& situation) override { return keep_all(situation); }
};

class Fixed : public Policy {
  public:
    explicit Fixed(int size) : size_(size) {}

    std::vector<Target> decide(const Situation& situation) override {
        std::vector<Target> targets = keep_all(situation);
        int free = situation.free;
        for (std::size_t j = 0; j < targets.size(); ++j) {
            const JobState& job = situation.jobs[j];
            const int size = std::clamp(size_, job.least, job.most);
            if (targets[j].nodes == 0 && free >= size) {
                targets[j] = {size, "starts with its fixed size"};
                free -= size;
            }
        }
        return targets;
    }

  private:
    int size_;
};

class EqualShare : public Policy {
  public:
    // Everybody gets the same; what is left over, in turn, one each.
    std::vector<Target> decide(const Situation& situation) override {
        std::vector<Target> targets(situation.jobs.size());
        int left = situation.nodes();
        for (bool given = true; given && left > 0;) {
            given = false;
            for (std::size_t j = 0; j < targets.size(); ++j) {
                const JobState& job = situation.jobs[j];
                const int step = targets[j].nodes == 0 ? job.least : 1;
                if (targets[j].nodes + step <= job.most && step <= left) {
                    targets[j].nodes += step;
                    left -= step;
                    given = true;
                }
            }
        }
        for (std::size_t j = 0; j < targets.size(); ++j) {
            if (targets[j].nodes != situation.jobs[j].nodes.held()) {
                targets[j].reason = "its equal share";
            }
        }
        return targets;
    }
};

class Greedy : public Policy {
  public:
    std::vector<Target> decide(const Situation& situation) override {
        std::vector<Target> targets = keep_all(situation);
        for (int free = situation.free; free > 0;) {
            std::size_t best = targets.size();
            double best_gain = 0;
            for (std::size_t j = 0; j < targets.size(); ++j) {
                const double gain = gain_per_node(situation.jobs[j], targets[j].nodes, free);
                if (gain > best_gain) {
                    best_gain = gain;
                    best = j;
                }
            }
            if (best == targets.size()) {
                break;
            }
            const int step = step_of(situation.jobs[best], targets[best].nodes);
            targets[best].nodes += step;
            targets[best].reason = "adds most with the next node";
            free -= step;
        }
        return targets;
    }

  private:
    static int step_of(const JobState& job, int nodes) { return nodes == 0 ? job.least : 1; }
    static double gain_per_node(const JobState& job, int nodes, int free) {
        const int step = step_of(job, nodes);
        if (step > free || nodes + step > job.most) {
            return 0;
        }
        return (job.given->at(nodes + step) - job.given->at(nodes)) / step;
    }
};

// The largest sum of rates at every moment: an upper bound for what a policy can get from its jobs.
class Oracle : public Policy {
  public:
    std::vector<Target> decide(const Situation& situation) override {
        std::vector<JobValues> values;
        for (const JobState& job : situation.jobs) {
            JobValues of_job{job.nodes.held(), {}};
            for (int n = 0; n <= job.most; ++n) {
                of_job.value.push_back(n == 0 || n >= job.least ? job.given->at(n) : not_allowed);
            }
            values.push_back(std::move(of_job));
        }
        std::vector<Target> targets;
        for (const int nodes : allocate(values, situation.nodes()).nodes) {
            targets.push_back({nodes, "largest sum of rates"});
        }
        return targets;
    }
};

}  // namespace

std::unique_ptr<Policy> make_oracle(const PolicySettings&) {
    return std::make_unique<Oracle>();
}

std::unique_ptr<Policy> make_none(const PolicySettings&) {
    return std::make_unique<None>();
}

std::unique_ptr<Policy> make_fixed(const PolicySettings& settings) {
    return std::make_unique<Fixed>(settings.fixed_size);
}

std::unique_ptr<Policy> make_equal_share(const PolicySettings&) {
    return std::make_unique<EqualShare>();
}

std::unique_ptr<Policy> make_greedy(const PolicySettings&) {
    return std::make_unique<Greedy>();
}

}  // namespace mastic::schedule
