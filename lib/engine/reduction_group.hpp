// The group that sums the gradients, as the options and the tuning table say.
#pragma once

#include <memory>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/engine/accelerator.hpp>
#include <mastic/engine/front/train_options.hpp>

namespace mastic::engine {

gradient::BucketOptions bucket_options(const AllreduceSection& allreduce);

// As the options say, without a tuning table. `threads`: those that compute beside the group's own.
comm::GroupOptions reduction_options(const AllreduceSection& allreduce, int threads, const Accelerator& accelerator);

// Collective; `exchange` is a group of all ranks. Rank 0 reads the table for all. Where ranks compute on GPUs, NCCL reduces their
// memory if it is there. Throws AgreedError for a table that cannot be read or is of other hardware.
std::unique_ptr<comm::Group> make_reduction_group(comm::MpiSession& session, comm::Group& exchange, const AllreduceSection& allreduce,
                                                  int threads, const Accelerator& accelerator);

}  // namespace mastic::engine
