#include <mastic/comm/shm/shm_node.hpp>

#include <deque>
#include <utility>

#include <mastic/comm/sequence.hpp>
#include <mastic/comm/shm/detail/in_place.hpp>
#include <mastic/comm/shm/detail/node_memory.hpp>
#include <mastic/comm/shm/detail/one_shot.hpp>
#include <mastic/comm/shm/detail/segmented_copy.hpp>
#include <mastic/comm/shm/detail/shm_lane.hpp>
#include <mastic/comm/shm/detail/shm_stream.hpp>
#include <mastic/comm/shm/detail/shm_work.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

using detail::ShmWork;

struct ShmNode::Impl {
    Impl(std::shared_ptr<detail::NodeMemory> shared, const ShmOptions& options)
        : memory(std::move(shared)), transport(*memory) {
        // A late peer is often about a microsecond late.
        const int looks = options.cores_to_spare ? 32 : 1;
        for (int lane = 0; lane < options.lanes; ++lane) {
            lanes.emplace_back(*memory, lane, looks);
        }
    }

    std::unique_ptr<Operation> make(int lane_number, const ShmWork& work, ShmMethod method) {
        if (is_on_device(work.buffer)) {
            throw Error(ExitCode::usage, "shared memory takes buffers in host memory only");
        }
        if (memory->size() == 1 || work.buffer.count == 0) {
            return make_sequence({});
        }
        detail::ShmLane& lane = lanes.at(static_cast<std::size_t>(lane_number));
        if (method == ShmMethod::one_shot) {
            return std::make_unique<detail::OneShot>(lane, work);
        }
        if (method == ShmMethod::copy) {
            memory->reserve_slots(lane_number);
            return std::make_unique<detail::SegmentedCopy>(lane, work);
        }
        const std::size_t small = detail::one_shot_bytes(memory->size());
        if (method == ShmMethod::automatic && work.buffer.bytes() <= small) {
            if (work.kind == ShmWork::Kind::allreduce) {
                return std::make_unique<detail::InPlace>(lane, work, method, true);
            }
            auto copy = std::make_unique<detail::SegmentedCopy>(lane, work);
            if (copy->used_slot_bytes() <= small) {
                return copy;
            }
        }
        return std::make_unique<detail::InPlace>(lane, work, method);
    }

    std::shared_ptr<detail::NodeMemory> memory;
    std::deque<detail::ShmLane> lanes;
    detail::ShmTransport transport;
};

std::shared_ptr<ShmNode> ShmNode::create(Group& node, const ShmOptions& options) {
    auto memory = detail::NodeMemory::create(node, options);
    return std::shared_ptr<ShmNode>(new ShmNode(std::make_unique<Impl>(std::move(memory), options)));
}

ShmNode::ShmNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ShmNode::~ShmNode() = default;

int ShmNode::rank() const {
    return impl_->memory->rank();
}

int ShmNode::size() const {
    return impl_->memory->size();
}

bool ShmNode::single_copy() const {
    return impl_->memory->single_copy();
}

std::shared_ptr<void> ShmNode::allocate(std::size_t bytes) {
    return impl_->memory->allocate(bytes);
}

std::unique_ptr<Operation> ShmNode::make_allreduce(int lane, BufferView buffer, ReduceOp op,
                                                   ShmMethod method) {
    require_supported(buffer.type, op);
    return impl_->make(lane, ShmWork(ShmWork::Kind::allreduce, buffer, size(), op, size()), method);
}

std::unique_ptr<Operation> ShmNode::make_reduce_to_parts(int lane, BufferView buffer, ReduceOp op,
                                                         int parts) {
    require_supported(buffer.type, op);
    return impl_->make(lane, ShmWork(ShmWork::Kind::reduce, buffer, parts, op, size()), ShmMethod::automatic);
}

std::unique_ptr<Operation> ShmNode::make_spread_parts(int lane, BufferView buffer, int parts) {
    return impl_->make(lane, ShmWork(ShmWork::Kind::spread, buffer, parts, ReduceOp::sum, size()),
                       ShmMethod::automatic);
}

Transport& ShmNode::transport() {
    return impl_->transport;
}

std::string ShmNode::description() const {
    return single_copy() ? "shared memory" : "shared memory (without single-copy)";
}

}  // namespace mastic::comm
