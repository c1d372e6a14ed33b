// The generators behind the table of algorithms, in the form that PlanAlgorithm::make has.
#pragma once

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm::detail {

Plan ring_allreduce(int rank, int size, int root);
Plan bidirectional_ring_allreduce(int rank, int size, int root);
Plan recursive_doubling_allreduce(int rank, int size, int root);
Plan rabenseifner_allreduce(int rank, int size, int root);

Plan binomial_broadcast(int rank, int size, int root);
Plan chain_broadcast(int rank, int size, int root);
Plan scatter_allgather_broadcast(int rank, int size, int root);

Plan ring_reduce_scatter(int rank, int size, int root);
Plan pairwise_reduce_scatter(int rank, int size, int root);
Plan recursive_halving_reduce_scatter(int rank, int size, int root);

Plan ring_allgather(int rank, int size, int root);
Plan bruck_allgather(int rank, int size, int root);

}  // namespace mastic::comm::detail
