// What all groups have in common: from a call to an operation on a lane of the progress thread. Which algorithm an operation
// takes says the selection; where that is none of ours, the group's own (native) operations are asked.
#pragma once

#include <memory>
#include <string>

#include <mastic/comm/collective/collectives.hpp>
#include <mastic/comm/device/staging.hpp>
#include <mastic/comm/group.hpp>
#include <mastic/comm/lane_choice.hpp>
#include <mastic/comm/options.hpp>
#include <mastic/comm/progress_thread.hpp>

namespace mastic::comm {

class CollectiveGroup : public Group {
  public:
    using Group::allreduce;
    using Group::start_allreduce;
    Request start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options = {}) override;
    void allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options = {}) override;
    Request start_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                 const OperationOptions& options = {}) override;
    void reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                        const OperationOptions& options = {}) override;
    Request start_broadcast(BufferView buffer, int root, const OperationOptions& options = {}) override;
    void broadcast(BufferView buffer, int root, const OperationOptions& options = {}) override;
    Request start_allgather(BufferView send, BufferView receive,
                            const OperationOptions& options = {}) override;
    void allgather(BufferView send, BufferView receive, const OperationOptions& options = {}) override;
    Request start_barrier(const OperationOptions& options = {}) override;
    void barrier() override;

    std::shared_ptr<void> allocate(std::size_t bytes) override;

  protected:
    struct Native {
        std::unique_ptr<Operation> operation;
        bool blocking = false;
    };

    CollectiveGroup(std::shared_ptr<ProgressThread> progress,
                    std::shared_ptr<ProgressThread::Channel> channel, const GroupOptions& options);

    // Lanes that the operations of a group with these options use; how its channel treats them.
    static int lanes(const GroupOptions& options);
    static ChannelOptions channel_options(const GroupOptions& options, double cores_per_rank);
    static std::string plural(int count, const std::string& noun);  // "1 rank", "3 ranks"

    // On `lane`; the buffers are checked. Here they throw Error(usage): there are none.
    virtual Native native_allreduce(int lane, BufferView buffer, ReduceOp op,
                                    const OperationOptions& options);
    virtual Native native_reduce_scatter(int lane, BufferView send, BufferView receive, ReduceOp op,
                                         const OperationOptions& options);
    virtual Native native_broadcast(int lane, BufferView buffer, int root, const OperationOptions& options);
    virtual Native native_allgather(int lane, BufferView send, BufferView receive,
                                    const OperationOptions& options);
    virtual Native native_barrier(int lane, const OperationOptions& options);

    const std::shared_ptr<ProgressThread> progress_;
    const std::shared_ptr<ProgressThread::Channel> channel_;
    const GroupOptions options_;
    std::shared_ptr<Collectives> collectives_;  // null: native operations only
    SelectionMap selection_;

  private:
    Submission plan_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options);
    Submission plan_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                   const OperationOptions& options);
    Submission plan_broadcast(BufferView buffer, int root, const OperationOptions& options);
    Submission plan_allgather(BufferView send, BufferView receive, const OperationOptions& options);
    Submission plan_barrier(const OperationOptions& options);

    // For `part`, on the host, of a buffer that may be on a device: then the selection is asked for the whole first. Null: a
    // native one.
    const Choice* chosen(Collective collective, const BufferView& whole, const BufferView& part,
                         const OperationOptions& options) const;
    // The same operation on host memory and, through staging, on a device: `make` gets the buffers on the host.
    template <class Make>
    Native on_host_or_device(const BufferView& buffer, Staging::Way way, const Make& make);
    template <class Make>
    Native on_host_or_device(const BufferView& send, const BufferView& receive, const Make& make);
    Staging& staging();  // made when first used
    void require_parts(const BufferView& whole, const BufferView& part, const char* operation) const;
    Request submit(Submission submission) { return progress_->submit(channel_, std::move(submission)); }
    void run(Submission submission) { progress_->run(channel_, std::move(submission)); }
    [[noreturn]] void throw_no_native() const;

    LaneChoice lane_choice_;
    std::unique_ptr<Staging> staging_;
};

}  // namespace mastic::comm
