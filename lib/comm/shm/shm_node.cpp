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
        // With more ranks than cores each synchronisation costs the time slice of another rank: no copies by choice.
        may_copy = options.cores_to_spare && memory->single_copy();
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
            memory->reserve_cycles(lane_number);
            return std::make_unique<detail::SegmentedCopy>(lane, work);
        }
        if (method == ShmMethod::automatic && work.kind == ShmWork::Kind::allreduce &&
            work.buffer.bytes() <= detail::one_shot_bytes(memory->size())) {
            return detail::InPlace::small(lane, work);
        }
        if (method == ShmMethod::automatic && work.kind != ShmWork::Kind::allreduce) {
            auto copy = std::make_unique<detail::SegmentedCopy>(lane, work);
            if (copy->fits_slots()) {
                return copy;
            }
        }
        const bool chooses = method == ShmMethod::automatic && may_copy;
        return std::make_unique<detail::InPlace>(lane, work, method, chooses ? &choice : nullptr);
    }

    std::shared_ptr<detail::NodeMemory> memory;
    std::deque<detail::ShmLane> lanes;
    bool may_copy = false;
    detail::CopyChoice choice;
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
