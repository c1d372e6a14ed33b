#include <mastic/tuning/plan_cost.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>

namespace mastic::tuning {
namespace {

using comm::Action;
using comm::Plan;
using comm::PlanStep;

// When the first segment of something is there, and when all of it.
struct Span {
    double first_us = 0;
    double done_us = 0;

    void not_before(const Span& other) {
        first_us = std::max(first_us, other.first_us);
        done_us = std::max(done_us, other.done_us);
    }
};

// One operation, in the order of time. Ranks take their steps in the order of their lists.
class Simulation {
  public:
    Simulation(const std::vector<Plan>& plans, const std::vector<int>& node_of_rank, double bytes,
               const LevelCosts& costs, double segment)
        : plans_(plans), node_of_rank_(node_of_rank), bytes_(bytes), costs_(costs), segment_(segment) {
        for (const Plan& plan : plans) {
            ranks_.emplace_back().blocks.resize(static_cast<std::size_t>(plan.blocks));
        }
    }

    double run() {
        for (int rank = 0; rank < size(); ++rank) {
            go_on(rank);
        }
        while (!ready_.empty()) {
            const auto [at, rank] = ready_.top();
            ready_.pop();
            const double start = start_of_send(rank);
            if (start > at && !ready_.empty() && ready_.top().first < start) {
                ready_.push({start, rank});
                continue;
            }
            send(rank, start);
            go_on(rank);
        }
        double end = 0;
        for (int rank = 0; rank < size(); ++rank) {
            if (state(rank).next < plan(rank).steps.size()) {
                throw std::logic_error("a plan waits for a message that nobody sends");
            }
            end = std::max(end, state(rank).end_us);
        }
        return end;
    }

  private:
    struct RankState {
        std::vector<Span> blocks;
        std::size_t next = 0;  // step
        double end_us = 0;
        std::map<int, std::deque<Span>> arriving;  // by sender
    };

    int size() const { return static_cast<int>(plans_.size()); }
    const Plan& plan(int rank) const { return plans_[static_cast<std::size_t>(rank)]; }
    RankState& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const PlanStep& next_step(int rank) { return plan(rank).steps[state(rank).next]; }

    bool is_local(int a, int b) const {
        return node_of_rank_[static_cast<std::size_t>(a)] == node_of_rank_[static_cast<std::size_t>(b)];
    }
    const LinkCost& link(int a, int b) const { return is_local(a, b) ? costs_.node : costs_.network; }
    // Whose port a message between the two takes at rank `a`: the rank's own, or the node's.
    double& port(std::map<int, double>& ports, int a, int b) const {
        return ports[is_local(a, b) ? a : -1 - node_of_rank_[static_cast<std::size_t>(a)]];
    }

    double bytes_of(int rank, const PlanStep& step) const {
        return bytes_ * step.block_count / plan(rank).blocks;
    }
    double piece_of(double bytes) const { return segment_ > 0 ? std::min(segment_, bytes) : bytes; }

    Span span_of(int rank, const PlanStep& step) {
        Span span;
        for (int i = 0; i < step.block_count; ++i) {
            span.not_before(block(rank, step, i));
        }
        return span;
    }
    Span& block(int rank, const PlanStep& step, int place) {
        return state(rank).blocks[static_cast<std::size_t>((step.first_block + place) % plan(rank).blocks)];
    }
    void set_blocks(int rank, const PlanStep& step, const Span& span) {
        for (int i = 0; i < step.block_count; ++i) {
            block(rank, step, i).not_before(span);
        }
        state(rank).end_us = std::max(state(rank).end_us, span.done_us);
    }

    double start_of_send(int rank) {
        const PlanStep& step = next_step(rank);
        return std::max({span_of(rank, step).first_us, port(sending_, rank, step.peer),
                         port(receiving_, step.peer, rank)});
    }

    void send(int rank, double start) {
        const PlanStep& step = next_step(rank);
        const LinkCost& cost = link(rank, step.peer);
        const double bytes = bytes_of(rank, step);
        const double piece_us = cost.alpha_us + piece_of(bytes) * cost.beta_us_per_byte;
        Span message{start + piece_us, start + cost.alpha_us + bytes * cost.beta_us_per_byte};
        if (piece_of(bytes) < bytes) {
            message.done_us = std::max(message.done_us, span_of(rank, step).done_us + piece_us);
        }
        port(sending_, rank, step.peer) = message.done_us;
        port(receiving_, step.peer, rank) = message.done_us;
        set_blocks(rank, step, message);
        ++state(rank).next;
        state(step.peer).arriving[rank].push_back(message);
        if (waiting_for(step.peer) == rank) {
            go_on(step.peer);
        }
    }

    // The sender that the next step of a rank receives from; -1: it does not receive.
    int waiting_for(int rank) {
        const bool receives =
            state(rank).next < plan(rank).steps.size() && next_step(rank).action != Action::send;
        return receives ? next_step(rank).peer : -1;
    }

    // Receives all that is there; the next send joins the queue.
    void go_on(int rank) {
        while (const int sender = waiting_for(rank) + 1) {
            auto& queue = state(rank).arriving[sender - 1];
            if (queue.empty()) {
                return;
            }
            receive(rank, queue.front());
            queue.pop_front();
        }
        if (state(rank).next < plan(rank).steps.size()) {
            ready_.push({start_of_send(rank), rank});
        }
    }

    void receive(int rank, Span message) {
        const PlanStep& step = next_step(rank);
        if (step.action == Action::receive_reduce) {
            const double bytes = bytes_of(rank, step);
            const double gamma = link(rank, step.peer).gamma_us_per_byte;
            const double piece_us = piece_of(bytes) * gamma;
            message.not_before(span_of(rank, step));
            message = {message.first_us + piece_us,
                       std::max(message.done_us + piece_us, message.first_us + bytes * gamma)};
        }
        set_blocks(rank, step, message);
        ++state(rank).next;
    }

    using Ready = std::pair<double, int>;  // time, rank

    const std::vector<Plan>& plans_;
    const std::vector<int>& node_of_rank_;
    double bytes_;
    const LevelCosts& costs_;
    double segment_;
    std::vector<RankState> ranks_;
    std::map<int, double> sending_;  // ports: when they are free
    std::map<int, double> receiving_;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

PlanCost::PlanCost(const comm::PlanAlgorithm& algorithm, std::vector<int> node_of_rank)
    : node_of_rank_(std::move(node_of_rank)) {
    const int size = static_cast<int>(node_of_rank_.size());
    for (int rank = 0; rank < size; ++rank) {
        plans_.push_back(algorithm.make(rank, size, 0));
    }
}

double PlanCost::predict_us(double bytes, const LevelCosts& costs, Bytes segment) const {
    return Simulation(plans_, node_of_rank_, bytes, costs, static_cast<double>(segment.count)).run();
}

}  // namespace mastic::tuning
