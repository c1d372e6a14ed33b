// NCCL without GPUs: collectives in the stream of a fake device, over a group of host memory. It fails on demand.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <mastic/comm/nccl/library.hpp>

#include "comm/device/fake_device.hpp"

namespace mastic::test {

enum class NcclFault {
    none,
    never_connects,
    refuses_id,   // make_id() throws
    hangs,        // operations end only when they are aborted
    loses_a_rank  // the state of the communicator becomes an error when an operation was started
};

class FakeNccl : public comm::NcclLibrary {
  public:
    // `ranks`: those of the communicator that start() will make; null where this rank takes no part.
    FakeNccl(std::shared_ptr<FakeDevice> device, std::unique_ptr<comm::Group> ranks, int version,
             NcclFault fault = NcclFault::none);
    ~FakeNccl() override;

    int version() const override { return version_; }
    std::string make_id() override;
    std::unique_ptr<comm::NcclCommunicator> start(const std::string& id, int ranks, int rank) override;

    int communicators() const { return communicators_; }  // at present
    int aborts() const { return aborts_; }

  private:
    class Communicator;

    std::shared_ptr<FakeDevice> device_;
    std::shared_ptr<comm::Group> ranks_;
    const int version_;
    const NcclFault fault_;
    std::atomic<int> communicators_ = 0;
    std::atomic<int> aborts_ = 0;
};

}  // namespace mastic::test
