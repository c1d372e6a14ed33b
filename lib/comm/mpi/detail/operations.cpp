#include <mastic/comm/mpi/detail/operations.hpp>

#include <algorithm>

#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/reduction.hpp>
#include <mastic/core/checked_cast.hpp>

namespace mastic::comm::detail {

namespace {

int mpi_count(std::size_t count) {
    return checked_cast<int>(count, "the count of a segment");
}

int size_of_comm(MPI_Comm comm) {
    int size = 0;
    check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    return size;
}

BufferView part_of(const BufferView& buffer, const Segment& segment) {
    BufferView part = buffer;
    part.data = static_cast<std::byte*>(buffer.data) + segment.offset * size_of(buffer.type);
    part.count = segment.count;
    return part;
}

SegmentPlan plan_of(const BufferView& buffer, Bytes segment) {
    return {buffer.count, size_of(buffer.type), segment};
}

class PipelinedAllreduce : public SegmentedOperation {
  public:
    PipelinedAllreduce(MPI_Comm comm, BufferView buffer, ReduceOp op, const Reductions& reductions,
                       const Pipeline& pipeline)
        : SegmentedOperation(plan_of(buffer, pipeline.segment), pipeline.depth),
          comm_(comm),
          buffer_(buffer),
          op_(op),
          mpi_op_(reductions.find(buffer.type, op)) {}

  private:
    MPI_Request begin(const Segment& segment) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(MPI_IN_PLACE, part_of(buffer_, segment).data, mpi_count(segment.count),
                             mpi_type(buffer_.type), mpi_op_, comm_, &request),
              "MPI_Iallreduce");
        return request;
    }
    // While the segment is still in the cache.
    void finish(const Segment& segment) override {
        if (op_ == ReduceOp::average) {
            scale_to_average(part_of(buffer_, segment), size_of_comm(comm_));
        }
    }

    MPI_Comm comm_;
    BufferView buffer_;
    ReduceOp op_;
    MPI_Op mpi_op_;
};

class BlockingAllreduce : public Operation {
  public:
    BlockingAllreduce(MPI_Comm comm, BufferView buffer, ReduceOp op, const Reductions& reductions)
        : comm_(comm), buffer_(buffer), op_(op), mpi_op_(reductions.find(buffer.type, op)) {}

    void start() override {}
    Step step() override {
        const SegmentPlan plan = plan_of(buffer_, Bytes{0});
        for (std::size_t i = 0; i < plan.size(); ++i) {
            check(MPI_Allreduce(MPI_IN_PLACE, part_of(buffer_, plan[i]).data, mpi_count(plan[i].count),
                                mpi_type(buffer_.type), mpi_op_, comm_),
                  "MPI_Allreduce");
        }
        if (op_ == ReduceOp::average) {
            scale_to_average(buffer_, size_of_comm(comm_));
        }
        return Step::complete;
    }

  private:
    MPI_Comm comm_;
    BufferView buffer_;
    ReduceOp op_;
    MPI_Op mpi_op_;
};

class Broadcast : public SegmentedOperation {
  public:
    Broadcast(MPI_Comm comm, BufferView buffer, int root, const Pipeline& pipeline)
        : SegmentedOperation(plan_of(buffer, pipeline.segment), pipeline.depth),
          comm_(comm),
          buffer_(buffer),
          root_(root) {}

  private:
    MPI_Request begin(const Segment& segment) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Ibcast(part_of(buffer_, segment).data, mpi_count(segment.count), mpi_type(buffer_.type),
                         root_, comm_, &request),
              "MPI_Ibcast");
        return request;
    }

    MPI_Comm comm_;
    BufferView buffer_;
    int root_;
};

// A segment of every rank's contribution lands at a stride of the whole contribution: a resized type says so.
class Allgather : public SegmentedOperation {
  public:
    Allgather(MPI_Comm comm, BufferView send, BufferView receive, const Pipeline& pipeline)
        : SegmentedOperation(plan_of(send, pipeline.segment), pipeline.depth),
          comm_(comm),
          send_(send),
          receive_(receive) {}

  private:
    MPI_Request begin(const Segment& segment) override {
        const MPI_Datatype element = mpi_type(send_.type);
        MPI_Datatype piece = MPI_DATATYPE_NULL;
        MPI_Datatype strided = MPI_DATATYPE_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Type_contiguous(mpi_count(segment.count), element, &piece), "MPI_Type_contiguous");
        check(MPI_Type_create_resized(piece, 0, checked_cast<MPI_Aint>(send_.bytes(), "a contribution"),
                                      &strided),
              "MPI_Type_create_resized");
        check(MPI_Type_commit(&strided), "MPI_Type_commit");
        check(MPI_Iallgather(part_of(send_, segment).data, mpi_count(segment.count), element,
                             part_of(receive_, segment).data, 1, strided, comm_, &request),
              "MPI_Iallgather");
        MPI_Type_free(&piece);
        MPI_Type_free(&strided);
        return request;
    }

    MPI_Comm comm_;
    BufferView send_;
    BufferView receive_;
};

// One segment: a part of a segment from each rank's part would not be contiguous.
class ReduceScatter : public SegmentedOperation {
  public:
    ReduceScatter(MPI_Comm comm, BufferView send, BufferView receive, ReduceOp op, const Reductions& reductions)
        : SegmentedOperation({1, 1, Bytes{1}}, 1),
          comm_(comm),
          send_(send),
          receive_(receive),
          op_(op),
          mpi_op_(reductions.find(receive.type, op)) {}

  private:
    MPI_Request begin(const Segment&) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Ireduce_scatter_block(send_.data, receive_.data, mpi_count(receive_.count), mpi_type(receive_.type),
                                        mpi_op_, comm_, &request),
              "MPI_Ireduce_scatter_block");
        return request;
    }
    void finish(const Segment&) override {
        if (op_ == ReduceOp::average) {
            scale_to_average(receive_, size_of_comm(comm_));
        }
    }

    MPI_Comm comm_;
    BufferView send_;
    BufferView receive_;
    ReduceOp op_;
    MPI_Op mpi_op_;
};

class Barrier : public SegmentedOperation {
  public:
    explicit Barrier(MPI_Comm comm) : SegmentedOperation({1, 1, Bytes{1}}, 1), comm_(comm) {}

  private:
    MPI_Request begin(const Segment&) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
        return request;
    }

    MPI_Comm comm_;
};

}  // namespace

SegmentedOperation::SegmentedOperation(SegmentPlan plan, int depth) : plan_(plan) {
    const std::size_t slots = std::min(static_cast<std::size_t>(depth), plan.size());
    requests_.assign(slots, MPI_REQUEST_NULL);
    segments_.resize(slots);
    completed_.resize(slots);
}

void SegmentedOperation::begin_next(std::size_t slot) {
    if (next_ < plan_.size()) {
        segments_[slot] = plan_[next_++];
        requests_[slot] = begin(segments_[slot]);
    }
}

void SegmentedOperation::start() {
    for (std::size_t slot = 0; slot < requests_.size(); ++slot) {
        begin_next(slot);
    }
}

Step SegmentedOperation::step() {
    int done = 0;
    check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, completed_.data(),
                       MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    if (done == MPI_UNDEFINED) {
        return Step::complete;
    }
    // The next segments start first: the link works while the finished ones are scaled.
    std::vector<Segment> finished;
    for (int i = 0; i < done; ++i) {
        const auto slot = static_cast<std::size_t>(completed_[i]);
        finished.push_back(segments_[slot]);
        begin_next(slot);
    }
    for (const Segment& segment : finished) {
        finish(segment);
    }
    const bool all = std::all_of(requests_.begin(), requests_.end(),
                                 [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
    return all ? Step::complete : done > 0 ? Step::advanced : Step::waiting;
}

std::unique_ptr<Operation> make_pipelined_allreduce(MPI_Comm comm, BufferView buffer, ReduceOp op,
                                                    const Reductions& reductions, const Pipeline& pipeline) {
    return std::make_unique<PipelinedAllreduce>(comm, buffer, op, reductions, pipeline);
}

std::unique_ptr<Operation> make_blocking_allreduce(MPI_Comm comm, BufferView buffer, ReduceOp op,
                                                   const Reductions& reductions) {
    return std::make_unique<BlockingAllreduce>(comm, buffer, op, reductions);
}

std::unique_ptr<Operation> make_broadcast(MPI_Comm comm, BufferView buffer, int root,
                                          const Pipeline& pipeline) {
    return std::make_unique<Broadcast>(comm, buffer, root, pipeline);
}

std::unique_ptr<Operation> make_allgather(MPI_Comm comm, BufferView send, BufferView receive,
                                          const Pipeline& pipeline) {
    return std::make_unique<Allgather>(comm, send, receive, pipeline);
}

std::unique_ptr<Operation> make_reduce_scatter(MPI_Comm comm, BufferView send, BufferView receive, ReduceOp op,
                                               const Reductions& reductions) {
    return std::make_unique<ReduceScatter>(comm, send, receive, op, reductions);
}

std::unique_ptr<Operation> make_barrier(MPI_Comm comm) {
    return std::make_unique<Barrier>(comm);
}

}  // namespace mastic::comm::detail
