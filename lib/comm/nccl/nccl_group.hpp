// A group whose allreduce and broadcast of GPU memory go through NCCL; everything else goes to the group that it stands on.
//
// Ranks that share a GPU, which NCCL before 2.30 refuses, first reduce in its memory; one rank of each GPU takes part in NCCL,
// and spreads the result (see gpu_placement.hpp, gpu_window.hpp).
//
// Nobody hangs: connecting is bounded, and an operation that NCCL reports as failed, or that takes longer than the limit, is
// aborted on the GPU and ends with Error(collective), as everything after it.
#pragma once

#include <memory>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/nccl/library.hpp>
#include <mastic/comm/poll_policy.hpp>
#include <mastic/comm/request.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::comm {

struct NcclGroupOptions {
    WaitLimits limits{};
    Seconds connect{120};     // until all ranks of NCCL have found one another
    Bytes window{32u << 20};  // on the GPU, of each rank that shares it
    PollPolicy poll = PollPolicy::yield;
};

// Collective on `host`, whose options have the same `device`: what NCCL does not do passes through host memory. Errors are
// the same on all ranks (AgreedError).
std::unique_ptr<Group> make_nccl_group(std::unique_ptr<Group> host, std::shared_ptr<Device> device,
                                       std::shared_ptr<NcclLibrary> nccl,
                                       const NcclGroupOptions& options = {});

}  // namespace mastic::comm
