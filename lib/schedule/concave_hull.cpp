#include <mastic/schedule/concave_hull.hpp>

#include <algorithm>
#include <cmath>

namespace mastic::schedule {
namespace {

// A rising edge of a hull.
struct Segment {
    double slope;
    std::size_t job;
    int from;
    int to;
};

std::vector<int> hull_corners(const JobValues& job, int largest) {
    std::vector<int> corners;
    const auto& value = job.value;
    const auto at = [&value](int n) { return value[static_cast<std::size_t>(n)]; };
    for (int n = 0; n <= largest; ++n) {
        if (at(n) == not_allowed) {
            continue;
        }
        while (corners.size() >= 2) {
            const int a = corners[corners.size() - 2];
            const int b = corners.back();
            if ((at(b) - at(a)) * (n - b) > (at(n) - at(b)) * (b - a)) {
                break;
            }
            corners.pop_back();
        }
        corners.push_back(n);
    }
    return corners;
}

std::vector<Segment> rising_segments(std::span<const JobValues> jobs, int nodes) {
    std::vector<Segment> segments;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const std::vector<int> corners = hull_corners(jobs[j], largest_count(jobs[j], nodes));
        for (std::size_t i = 1; i < corners.size(); ++i) {
            const int from = corners[i - 1];
            const int to = corners[i];
            const double slope = (jobs[j].value[static_cast<std::size_t>(to)] -
                                  jobs[j].value[static_cast<std::size_t>(from)]) /
                                 (to - from);
            if (slope <= 0) {
                break;
            }
            segments.push_back({slope, j, from, to});
        }
    }
    std::stable_sort(segments.begin(), segments.end(),
                     [](const Segment& a, const Segment& b) { return a.slope > b.slope; });
    return segments;
}

// Raises the one job that gains most with the nodes left, until none does.
void raise_single_jobs(std::span<const JobValues> jobs, int nodes, int left, HullSolution& solution) {
    while (left > 0) {
        double best_gain = 0;
        std::size_t best_job = 0;
        int best_count = -1;
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            const int now = solution.nodes[j];
            const int most = std::min(largest_count(jobs[j], nodes), now + left);
            const double base = jobs[j].value[static_cast<std::size_t>(now)];
            for (int n = now + 1; n <= most; ++n) {
                const double gain = jobs[j].value[static_cast<std::size_t>(n)] - base;
                if (gain > best_gain) {
                    best_gain = gain;
                    best_job = j;
                    best_count = n;
                }
            }
        }
        if (best_count < 0) {
            return;
        }
        left -= best_count - solution.nodes[best_job];
        solution.nodes[best_job] = best_count;
        solution.value += best_gain;
    }
}

}  // namespace

int largest_count(const JobValues& job, int nodes) {
    return std::min(static_cast<int>(job.value.size()) - 1, nodes);
}

double best_net_value(const JobValues& job, double price, int nodes) {
    double best = not_allowed;
    for (int n = 0; n <= largest_count(job, nodes); ++n) {
        best = std::max(best, job.value[static_cast<std::size_t>(n)] - price * n);
    }
    return best;
}

HullSolution solve_hulls(std::span<const JobValues> jobs, int nodes) {
    HullSolution solution;
    solution.nodes.assign(jobs.size(), 0);
    for (const JobValues& job : jobs) {
        solution.value += job.value[0];
    }
    solution.bound = solution.value;
    int left = nodes;
    bool split = false;
    std::vector<bool> stopped(jobs.size(), false);
    for (const Segment& segment : rising_segments(jobs, nodes)) {
        const int width = segment.to - segment.from;
        const bool fits = width <= left && !stopped[segment.job];
        if (!fits && !split) {  // here the relaxation would take a part of the segment
            split = true;
            solution.price = segment.slope;
            solution.bound = solution.value + segment.slope * left;
        }
        if (fits) {
            left -= width;
            solution.nodes[segment.job] = segment.to;
            solution.value += segment.slope * width;
        } else {
            stopped[segment.job] = true;
        }
    }
    if (!split) {
        solution.bound = solution.value;
    }
    raise_single_jobs(jobs, nodes, left, solution);
    return solution;
}

}  // namespace mastic::schedule
