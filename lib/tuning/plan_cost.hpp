// How long a plan takes, worked out from the plan itself: the model of Hockney (1994), in which a message of n bytes
// takes alpha + n beta and its reduction n gamma, as Thakur, Rabenseifner and Gropp (2005) use it to compare
// algorithms.
//
// Words: alpha is the latency of a message, beta the inverse bandwidth, gamma the time to reduce a byte. A rank sends
// to one peer and receives from one peer at a time (one port, both ways at once); ranks of a node share its network
// port.
//
// Without segments a step starts when those before it on its blocks have ended, which gives the formulas of the
// literature; with segments it follows one segment behind them (cut-through).
#pragma once

#include <vector>

#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::tuning {

struct LinkCost {
    double alpha_us = 0;
    double beta_us_per_byte = 0;
    double gamma_us_per_byte = 0;

    bool operator==(const LinkCost&) const = default;
};

struct LevelCosts {
    LinkCost node;     // between ranks of one node
    LinkCost network;  // between nodes
};

class PlanCost {
  public:
    // `node_of_rank`: any number that is the same for all ranks of a node. Steps grow with the square of the ranks.
    PlanCost(const comm::PlanAlgorithm& algorithm, std::vector<int> node_of_rank);

    // Microseconds until the last rank is done, all having started together. `segment` 0: whole blocks.
    double predict_us(double bytes, const LevelCosts& costs, Bytes segment) const;

  private:
    std::vector<int> node_of_rank_;
    std::vector<comm::Plan> plans_;  // by rank
};

}  // namespace mastic::tuning
