#include <mastic/comm/collective/collectives.hpp>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <mastic/comm/composed_transport.hpp>
#include <mastic/comm/plan_operation.hpp>
#include <mastic/comm/reduction.hpp>
#include <mastic/comm/sequence.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

BufferView part_of(const BufferView& buffer, std::size_t begin, std::size_t count) {
    BufferView part = buffer;
    part.data = static_cast<std::byte*>(buffer.data) + begin * size_of(buffer.type);
    part.count = count;
    return part;
}

void copy(const BufferView& from, const BufferView& to) {
    if (from.data != to.data && from.count > 0) {
        std::memmove(to.data, from.data, from.bytes());
    }
}

PlanOperationOptions plan_options(int lane, const Choice& choice, bool equal_parts = false) {
    PlanOperationOptions options{.lane = lane, .wire = choice.wire, .equal_parts = equal_parts};
    if (choice.segment.count > 0) {
        options.segment = choice.segment;
    }
    return options;
}

std::unique_ptr<Operation> in_order(std::unique_ptr<Operation> first, std::unique_ptr<Operation> second) {
    std::vector<std::unique_ptr<Operation>> both;
    both.push_back(std::move(first));
    both.push_back(std::move(second));
    return make_sequence(std::move(both));
}

std::unique_ptr<Operation> then_scale(std::unique_ptr<Operation> sum, ReduceOp op, BufferView buffer, int ranks) {
    if (op != ReduceOp::average) {
        return sum;
    }
    return in_order(std::move(sum), make_call([buffer, ranks] { scale_to_average(buffer, ranks); }));
}

}  // namespace

Collectives::Collectives(Topology topology, CollectiveParts parts)
    : topology_(std::move(topology)), parts_(std::move(parts)) {
    const auto compose = [this](Transport* remote, std::unique_ptr<Transport>& mixed,
                                std::unique_ptr<Transport>& across) {
        if (remote == nullptr) {
            return;
        }
        if (parts_.node) {
            mixed = make_mixed_transport(topology_, parts_.node->transport(), *remote);
        }
        if (topology_.has_part()) {
            across = make_subset_transport(topology_.ranks_across(), *remote);
        }
    };
    compose(parts_.mpi.get(), mixed_mpi_, across_mpi_);
    compose(parts_.tcp.get(), mixed_tcp_, across_tcp_);
}

bool Collectives::has(TransportKind kind) const {
    switch (kind) {
        case TransportKind::automatic:
        case TransportKind::native:
            return true;
        case TransportKind::shm:
            return parts_.node != nullptr && topology_.nodes() == 1;
        case TransportKind::mpi:
            return parts_.mpi != nullptr;
        case TransportKind::tcp:
            return parts_.tcp != nullptr;
    }
    return false;
}

std::string Collectives::description() const {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    if (parts_.node) {
        add(parts_.node->description());
    }
    if (parts_.tcp) {
        add(parts_.tcp->description());
    }
    if (parts_.mpi) {
        add(parts_.mpi->description());
    }
    return text;
}

Transport& Collectives::transport(const Choice& choice) {
    if (!has(choice.transport)) {
        throw Error(ExitCode::usage, std::string("this group has no transport '") + to_string(choice.transport) + "'",
                    choice.transport == TransportKind::shm && topology_.nodes() > 1
                        ? "shared memory ends at the node: choose tcp or mpi, which use it inside the nodes"
                        : "it has: " + description());
    }
    if (choice.transport == TransportKind::shm) {
        return parts_.node->transport();
    }
    const bool tcp = choice.transport == TransportKind::tcp;
    if (parts_.node) {
        return tcp ? *mixed_tcp_ : *mixed_mpi_;
    }
    return tcp ? *parts_.tcp : *parts_.mpi;
}

std::shared_ptr<const PlanSchedule> Collectives::schedule(Collective collective, const Choice& choice, int rank,
                                                          int size, int root) {
    auto& known = schedules_[{collective, choice.algorithm, rank, size, root}];
    if (!known) {
        const PlanAlgorithm* algorithm = find_plan_algorithm(collective, choice.algorithm);
        if (algorithm == nullptr) {
            throw Error(ExitCode::usage, std::string("no ") + to_string(collective) + " algorithm '" +
                                             choice.algorithm + "' over " + to_string(choice.transport));
        }
        known = std::make_shared<PlanSchedule>(algorithm->make(rank, size, root));
    }
    return known;
}

std::unique_ptr<Operation> Collectives::make_allreduce(int lane, BufferView buffer, ReduceOp op,
                                                       const Choice& choice) {
    if (topology_.size() == 1 || buffer.count == 0) {
        return make_sequence({});
    }
    if (choice.transport == TransportKind::shm) {
        if (const ShmMethodName* method = find_shm_method(choice.algorithm); method != nullptr && has(choice.transport)) {
            return parts_.node->make_allreduce(lane, buffer, op, method->method);
        }
    }
    Transport& flat = transport(choice);
    if (choice.hierarchical && parts_.shares_nodes) {
        return make_hierarchical(lane, buffer, op, choice);
    }
    const int ranks = topology_.size();
    return then_scale(make_plan_operation(schedule(Collective::allreduce, choice, topology_.rank(), ranks, 0), flat,
                                          buffer, op, plan_options(lane, choice)),
                      op, buffer, ranks);
}

std::unique_ptr<Operation> Collectives::make_hierarchical(int lane, BufferView buffer, ReduceOp op,
                                                          const Choice& choice) {
    const int parts = topology_.parts();
    std::vector<std::unique_ptr<Operation>> phases;
    if (parts_.node) {
        phases.push_back(parts_.node->make_reduce_to_parts(lane, buffer, op, parts));
    }
    if (topology_.has_part()) {
        const BlockLayout layout(buffer.count, parts);
        const int mine = topology_.local_rank();
        const BufferView part = part_of(buffer, layout.begin(mine), layout.size(mine));
        Transport& across = choice.transport == TransportKind::tcp ? *across_tcp_ : *across_mpi_;
        phases.push_back(then_scale(
            make_plan_operation(
                schedule(Collective::allreduce, choice, topology_.place_across(), topology_.nodes(), 0), across, part,
                op, plan_options(lane, choice)),
            op, part, topology_.size()));
    }
    if (parts_.node) {
        phases.push_back(parts_.node->make_spread_parts(lane, buffer, parts));
    }
    return make_sequence(std::move(phases));
}

std::unique_ptr<Operation> Collectives::make_broadcast(int lane, BufferView buffer, int root, const Choice& choice) {
    if (topology_.size() == 1) {
        return make_sequence({});
    }
    return make_plan_operation(schedule(Collective::broadcast, choice, topology_.rank(), topology_.size(), root),
                               transport(choice), buffer, ReduceOp::max, plan_options(lane, choice));
}

std::unique_ptr<Operation> Collectives::make_reduce_scatter(int lane, BufferView send, BufferView receive,
                                                            ReduceOp op, const Choice& choice) {
    if (topology_.size() == 1) {
        return make_call([send, receive] { copy(send, receive); });
    }
    const int ranks = topology_.size();
    const auto own = static_cast<std::size_t>(topology_.rank());
    auto plan = schedule(Collective::reduce_scatter, choice, topology_.rank(), ranks, 0);
    // The plan reduces in place, and the contribution is the caller's.
    auto scratch = std::make_shared<std::unique_ptr<std::byte[]>>(new std::byte[send.bytes()]);
    BufferView work = send;
    work.data = scratch->get();
    std::vector<std::unique_ptr<Operation>> phases;
    phases.push_back(make_call([send, work] { copy(send, work); }));
    phases.push_back(
        make_plan_operation(std::move(plan), transport(choice), work, op, plan_options(lane, choice, true)));
    phases.push_back(make_call([work, receive, own, op, ranks, scratch] {
        copy(part_of(work, own * receive.count, receive.count), receive);
        if (op == ReduceOp::average) {
            scale_to_average(receive, ranks);
        }
    }));
    return make_sequence(std::move(phases));
}

std::unique_ptr<Operation> Collectives::make_allgather(int lane, BufferView send, BufferView receive,
                                                       const Choice& choice) {
    const auto own = static_cast<std::size_t>(topology_.rank());
    auto place = make_call([send, receive, own] { copy(send, part_of(receive, own * send.count, send.count)); });
    if (topology_.size() == 1) {
        return place;
    }
    return in_order(std::move(place),
                    make_plan_operation(
                        schedule(Collective::allgather, choice, topology_.rank(), topology_.size(), 0),
                        transport(choice), receive, ReduceOp::max, plan_options(lane, choice, true)));
}

std::unique_ptr<Operation> Collectives::make_barrier(int lane, const Choice& choice) {
    auto byte = std::make_shared<std::uint8_t>(std::uint8_t{0});
    const BufferView buffer{byte.get(), 1, DataType::uint8};
    return in_order(make_allreduce(lane, buffer, ReduceOp::max, choice), make_call([byte] {}));
}

}  // namespace mastic::comm
