#include "comm/nccl/fake_nccl.hpp"

#include <utility>

#include <gtest/gtest.h>

#include <mastic/core/error.hpp>

namespace mastic::test {

class FakeNccl::Communicator : public comm::NcclCommunicator {
  public:
    explicit Communicator(FakeNccl& library) : library_(library) { ++library_.communicators_; }
    ~Communicator() override {
        *aborted_ = true;
        --library_.communicators_;
    }

    bool ready() override {
        if (library_.fault_ == NcclFault::loses_a_rank && started_) {
            throw Error(ExitCode::collective, "NCCL, work of the communicator: remote process exited",
                        "a rank is lost");
        }
        return library_.fault_ != NcclFault::never_connects && ++looks_ > 3;
    }
    void allreduce(const comm::BufferView& buffer, comm::ReduceOp op, comm::CopyStream& stream) override {
        put(stream, [this, buffer, op] { return library_.ranks_->start_allreduce(on_host(buffer), op); });
    }
    void broadcast(const comm::BufferView& buffer, int root, comm::CopyStream& stream) override {
        put(stream, [this, buffer, root] { return library_.ranks_->start_broadcast(on_host(buffer), root); });
    }
    void abort() noexcept override {
        ++library_.aborts_;
        *aborted_ = true;
    }

  private:
    static comm::BufferView on_host(comm::BufferView buffer) {
        buffer.memory = comm::MemoryKind::host;
        return buffer;
    }

    template <class Begin>
    void put(comm::CopyStream& stream, Begin begin) {
        started_ = true;
        const bool ends = library_.fault_ == NcclFault::none;
        auto request = std::make_shared<comm::Request>();
        library_.device_->put(stream, [begin, ends, request, aborted = aborted_] {
            if (*aborted || !ends) {
                return aborted->load();
            }
            if (!request->valid()) {
                *request = begin();
            }
            return request->test();
        });
    }

    FakeNccl& library_;
    std::shared_ptr<std::atomic<bool>> aborted_ = std::make_shared<std::atomic<bool>>(false);
    std::atomic<bool> started_ = false;
    std::atomic<int> looks_ = 0;
};

FakeNccl::FakeNccl(std::shared_ptr<FakeDevice> device, std::unique_ptr<comm::Group> ranks, int version,
                   NcclFault fault)
    : device_(std::move(device)), ranks_(std::move(ranks)), version_(version), fault_(fault) {}

FakeNccl::~FakeNccl() {
    EXPECT_EQ(communicators_, 0);
}

std::string FakeNccl::make_id() {
    if (fault_ == NcclFault::refuses_id) {
        throw Error(ExitCode::environment, "NCCL, a new identity: no network interface",
                    "set NCCL_SOCKET_IFNAME");
    }
    return "identity";
}

std::unique_ptr<comm::NcclCommunicator> FakeNccl::start(const std::string& id, int ranks, int rank) {
    EXPECT_EQ(id, "identity");
    EXPECT_EQ(ranks, ranks_->size());
    EXPECT_EQ(rank, ranks_->rank());
    return std::make_unique<Communicator>(*this);
}

}  // namespace mastic::test
