// An operation of NCCL that ends: when it is done, when NCCL says that it failed, or when its time is over.
#pragma once

#include <memory>
#include <string>

#include <mastic/comm/nccl/library.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

// After a failure of `work` or `communicator` (null: this rank has none), or `limit` from its start, aborts the communicator
// and throws Error(collective).
std::unique_ptr<Operation> make_watched_operation(std::unique_ptr<Operation> work,
                                                  std::shared_ptr<NcclCommunicator> communicator,
                                                  std::string name, Seconds limit);

// Waits until `communicator` may be used, for at most `limit`; then Error(collective) that says "NCCL: WHAT ...".
void wait_until_ready(NcclCommunicator& communicator, const std::string& what, Seconds limit);

}  // namespace mastic::comm
