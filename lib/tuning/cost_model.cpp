#include <mastic/tuning/cost_model.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include <mastic/comm/plan_operation.hpp>
#include <mastic/report/statistics.hpp>
#include <mastic/tuning/least_squares.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::TransportKind;

using Vector = std::array<double, 3>;  // of alpha, beta, gamma

LinkCost as_cost(const Vector& values) {
    return {values[0], values[1], values[2]};
}

// A sample with the model of its plan.
class FitSample {
  public:
    explicit FitSample(const CostSample& sample)
        : plan_(*find_plan_algorithm(sample.collective, sample.algorithm),
                std::vector<int>(static_cast<std::size_t>(sample.ranks), 0)),
          bytes_(static_cast<double>(sample.bytes.count)),
          measured_us_(sample.median_us) {}

    // Predicted / measured.
    double ratio(const Vector& cost) const {
        return plan_.predict_us(bytes_, {as_cost(cost), {}}, Bytes{0}) / measured_us_;
    }

    // How much of alpha, beta and gamma is on the critical path, per measured time. Near `cost` the predicted time is
    // linear in the three and has no constant part, so these are its derivatives.
    Vector shares_at(const Vector& cost) const {
        Vector shares;
        const double here = ratio(cost);
        for (std::size_t i = 0; i < 3; ++i) {
            Vector there = cost;
            const double step = std::max(cost[i] * 1e-3, 1e-9);
            there[i] += step;
            shares[i] = (ratio(there) - here) / step;
        }
        return shares;
    }

  private:
    PlanCost plan_;
    double bytes_;
    double measured_us_;
};

// The critical path depends on the costs, and the costs on the critical path: a few rounds settle both.
LinkFit fit(TransportKind transport, Level level, const std::vector<FitSample>& samples) {
    constexpr int rounds = 4;
    Vector cost = {1, 1e-3, 1e-3};
    for (int round = 0; round < rounds; ++round) {
        std::vector<Vector> rows;
        for (const FitSample& sample : samples) {
            rows.push_back(sample.shares_at(cost));
        }
        cost = non_negative_least_squares(std::move(rows));
    }
    std::vector<double> errors;
    for (const FitSample& sample : samples) {
        errors.push_back(std::abs(sample.ratio(cost) - 1));
    }
    return {transport, level, as_cost(cost), static_cast<int>(samples.size()), report::median(errors)};
}

const LinkFit* find_fit(std::span<const LinkFit> links, TransportKind transport, Level level) {
    const auto found = std::ranges::find_if(
        links, [&](const LinkFit& link) { return link.transport == transport && link.level == level; });
    return found == links.end() ? nullptr : &*found;
}

// The costs that a transport meets in a group of this shape. Inside the nodes, mpi and tcp use shared memory where
// several nodes take part. None: not fitted.
std::optional<LevelCosts> costs_of(std::span<const LinkFit> links, TransportKind transport,
                                   const GroupShape& shape) {
    LevelCosts costs;
    if (shape.nodes > 1) {
        const LinkFit* network = find_fit(links, transport, Level::network);
        if (network == nullptr) {
            return std::nullopt;
        }
        costs.network = network->cost;
    }
    if (shape.ranks_per_node > 1) {
        const LinkFit* node = find_fit(links, shape.nodes > 1 ? TransportKind::shm : transport, Level::node);
        if (node == nullptr && shape.nodes > 1) {
            node = find_fit(links, TransportKind::mpi, Level::node);
        }
        if (node == nullptr) {
            return std::nullopt;
        }
        costs.node = node->cost;
    }
    return costs;
}

// A candidate with all that its prediction needs.
class Prediction {
  public:
    Prediction(const comm::PlanAlgorithm& algorithm, const GroupShape& shape, TransportKind transport,
               bool hierarchical, const LevelCosts& costs)
        : choice_{.transport = transport, .algorithm = algorithm.name, .hierarchical = hierarchical},
          shape_(shape),
          costs_(costs),
          plan_(algorithm, nodes_of(shape, hierarchical)) {}

    const Choice& choice() const { return choice_; }

    double us(double bytes) const {
        const Bytes segment = comm::PlanOperationOptions{}.segment;
        if (!choice_.hierarchical) {
            return plan_.predict_us(bytes, costs_, segment);
        }
        // Each rank reduces a part of its node's data, then the ranks of equal place reduce over the shared network
        // port, then each rank gathers the other parts.
        const double parts = shape_.ranks_per_node;
        const double others = bytes * (parts - 1) / parts;
        LevelCosts shared = costs_;
        shared.network.beta_us_per_byte *= parts;
        return 2 * costs_.node.alpha_us +
               others * (2 * costs_.node.beta_us_per_byte + costs_.node.gamma_us_per_byte) +
               plan_.predict_us(bytes / parts, shared, segment);
    }

  private:
    static std::vector<int> nodes_of(const GroupShape& shape, bool hierarchical) {
        std::vector<int> node_of_rank;
        for (int node = 0; node < shape.nodes; ++node) {
            node_of_rank.insert(node_of_rank.end(),
                                static_cast<std::size_t>(hierarchical ? 1 : shape.ranks_per_node), node);
        }
        return node_of_rank;
    }

    Choice choice_;
    GroupShape shape_;
    LevelCosts costs_;
    PlanCost plan_;
};

std::vector<Prediction> predictions(std::span<const LinkFit> links, Collective collective,
                                    const GroupShape& shape) {
    std::vector<Prediction> all;
    for (const TransportKind transport : {TransportKind::shm, TransportKind::mpi, TransportKind::tcp}) {
        const auto costs = costs_of(links, transport, shape);
        if (!costs || (transport == TransportKind::shm && shape.nodes > 1)) {
            continue;
        }
        for (const comm::PlanAlgorithm& algorithm : comm::plan_algorithms()) {
            if (algorithm.collective != collective) {
                continue;
            }
            all.emplace_back(algorithm, shape, transport, false, *costs);
            if (collective == Collective::allreduce && shape.nodes > 1 && shape.ranks_per_node > 1) {
                all.emplace_back(algorithm, shape, transport, true, *costs);
            }
        }
    }
    return all;
}

}  // namespace

const char* to_string(Level level) {
    return level == Level::node ? "node" : "network";
}

std::vector<LinkFit> fit_links(std::span<const CostSample> samples) {
    std::map<std::pair<TransportKind, Level>, std::vector<FitSample>> by_link;
    for (const CostSample& sample : samples) {
        const bool segmented = std::strcmp(sample.algorithm, "chain") == 0 && sample.ranks > 2;
        if (!segmented && sample.ranks <= most_modelled_ranks && sample.median_us > 0) {
            by_link[{sample.transport, sample.level}].emplace_back(sample);
        }
    }
    std::vector<LinkFit> fits;
    for (const auto& [link, list] : by_link) {
        if (list.size() >= 3) {
            fits.push_back(fit(link.first, link.second, list));
        }
    }
    return fits;
}

std::optional<comm::SelectionMap> predict_selection(std::span<const LinkFit> links, const GroupShape& shape) {
    if (shape.ranks() < 2 || shape.ranks() > most_modelled_ranks) {
        return std::nullopt;
    }
    constexpr std::uint64_t smallest = 64, largest = 64u << 20;
    std::vector<comm::SelectionRow> rows;
    for (const Collective collective : comm::collectives) {
        const std::vector<Prediction> candidates = predictions(links, collective, shape);
        if (candidates.empty()) {
            return std::nullopt;
        }
        for (std::uint64_t bytes = smallest; bytes <= largest; bytes *= 4) {
            const auto best = std::ranges::min_element(candidates, {}, [bytes](const Prediction& candidate) {
                return candidate.us(static_cast<double>(bytes));
            });
            // Sizes stand for those up to twice their own, half way to the next.
            if (!rows.empty() && rows.back().collective == collective &&
                rows.back().choice == best->choice()) {
                rows.back().up_to = Bytes{bytes * 2};
            } else {
                rows.push_back({collective, Bytes{bytes * 2}, best->choice()});
            }
        }
    }
    return comm::SelectionMap(std::move(rows));
}

}  // namespace mastic::tuning
