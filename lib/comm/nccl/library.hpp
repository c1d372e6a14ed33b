// The part of NCCL that a group needs, non-blocking throughout: the real one, or what a test puts in its place.
#pragma once

#include <memory>
#include <string>

#include <mastic/comm/device/device.hpp>

namespace mastic::comm {

class NcclCommunicator {
  public:
    virtual ~NcclCommunicator() = default;  // bounded; aborts what is in flight

    // False: it still connects, or has not yet put the last operation into its stream; nothing may be started. Throws Error(collective) after a failure, of whatever rank.
    virtual bool ready() = 0;
    // In place, on the GPU, behind what is in `stream`; there when ready() says so. `op` is not average.
    virtual void allreduce(const BufferView& buffer, ReduceOp op, CopyStream& stream) = 0;
    virtual void broadcast(const BufferView& buffer, int root, CopyStream& stream) = 0;
    // From any thread: kernels that wait for other ranks end. Only the destructor may follow.
    virtual void abort() noexcept = 0;
};

class NcclLibrary {
  public:
    virtual ~NcclLibrary() = default;
    virtual int version() const = 0;  // of the library that runs: 22809 is 2.28.9
    virtual std::string make_id() = 0;
    // Begins to connect to the others that do so with this id.
    virtual std::unique_ptr<NcclCommunicator> start(const std::string& id, int ranks, int rank) = 0;
};

bool has_nccl();  // this mastic was built with it
// For GPU `ordinal` of this process. Throws Error(environment) in a mastic that was built without NCCL.
std::shared_ptr<NcclLibrary> open_nccl(int ordinal);

}  // namespace mastic::comm
