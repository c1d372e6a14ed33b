// What an operation of a node does with the buffer, whichever way the bytes go.
#pragma once

#include <cstddef>

#include <mastic/comm/group.hpp>
#include <mastic/comm/plan/plan.hpp>
#include <mastic/comm/reduction.hpp>

namespace mastic::comm::detail {

struct ShmWork {
    enum class Kind {
        allreduce,
        reduce,  // to the owners of the parts
        spread,  // from the owners of the parts
    };

    // Part i is reduced, and handed out, by rank i.
    ShmWork(Kind work_kind, const BufferView& view, int part_count, ReduceOp op, int ranks)
        : kind(work_kind), buffer(view), parts(view.count, part_count) {
        if (reduces()) {
            reduce = find_reduce(view.type, op);
            reduce_both = find_reduce_both(view.type, op);
        }
        if (kind == Kind::allreduce && op == ReduceOp::average) {
            average_over = ranks;
        }
    }

    bool reduces() const { return kind != Kind::spread; }
    bool spreads() const { return kind != Kind::reduce; }
    bool owns_part(int rank) const { return rank < parts.blocks(); }
    std::size_t largest_part() const {  // elements
        std::size_t most = 0;
        for (int part = 0; part < parts.blocks(); ++part) {
            most = parts.size(part) > most ? parts.size(part) : most;
        }
        return most;
    }

    std::byte* at(std::size_t element) const { return static_cast<std::byte*>(buffer.data) + bytes(element); }
    std::size_t bytes(std::size_t elements) const { return elements * size_of(buffer.type); }
    // The last touch to what is reduced.
    void finish(std::byte* sum, std::size_t count) const {
        if (average_over > 1) {
            scale_to_average({sum, count, buffer.type}, average_over);
        }
    }

    Kind kind;
    BufferView buffer;
    BlockLayout parts;
    ReduceFunction reduce = nullptr;
    ReduceBothFunction reduce_both = nullptr;
    int average_over = 0;  // ranks; 0: no average
};

}  // namespace mastic::comm::detail
