// A group of ranks and its collective operations. Everything is non-blocking underneath: `start_*` hands the
// operation to the group's progress thread and returns a Request; the blocking forms are start + wait.
//
// Rules:
// - All ranks start the same operations in the same order (the order of starting is part of the fingerprint).
// - A buffer belongs to the group from start until its request is done.
// - Results of reductions are bit-identical on all ranks.
// - Calls to one Group come from one thread at a time; the progress thread is the group's own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <mastic/core/data_type.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

// `average` is the sum, scaled once by 1 / size(); of integers, the quotient without its remainder. `min` and
// `max` of a NaN are NaN. `boolean` knows min (and) and max (or) only. float16 and bfloat16 add in float32
// and round at each addition.
enum class ReduceOp { sum, min, max, average };
const char* to_string(ReduceOp op);
// pinned: host memory that a device copies to and from beside other work; operations treat it as host memory.
enum class MemoryKind { host, pinned, device };
const char* to_string(MemoryKind kind);

// `count` elements of `type` at `data`; the border to torch, CUDA and files. `stream` of device memory is a cudaStream_t, null
// the default one: an operation begins after what is in it at the start, and its result is there when its request is done.
struct BufferView {
    void* data = nullptr;
    std::size_t count = 0;
    DataType type = DataType::float32;
    MemoryKind memory = MemoryKind::host;
    void* stream = nullptr;

    std::size_t bytes() const { return count * size_of(type); }
};
inline bool is_on_device(const BufferView& buffer) {
    return buffer.memory == MemoryKind::device;
}

template <class T>
constexpr DataType data_type_of() {
    using Value = std::remove_cv_t<T>;
    if constexpr (std::is_floating_point_v<Value>) {
        static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
        return sizeof(Value) == 4 ? DataType::float32 : DataType::float64;
    } else if constexpr (std::is_same_v<Value, bool>) {
        return DataType::boolean;
    } else if constexpr (std::is_same_v<Value, std::byte> || std::is_same_v<Value, std::uint8_t>) {
        return DataType::uint8;
    } else {
        static_assert(std::is_integral_v<Value> && std::is_signed_v<Value>, "no DataType for this type");
        constexpr DataType by_log2_size[] = {DataType::int8, DataType::int16, DataType::int32,
                                             DataType::int64};
        return by_log2_size[std::bit_width(sizeof(Value)) - 1];
    }
}

// A view of const values is for sending only.
template <class T, std::size_t Extent>
BufferView view_of(std::span<T, Extent> values) {
    return {const_cast<std::remove_cv_t<T>*>(values.data()), values.size(), data_type_of<T>()};
}

struct Choice;  // selection.hpp

struct OperationOptions {
    int priority = 0;         // larger first, among operations that wait to start; equal on all ranks
    std::string_view name{};  // for stall reports and traces: "bucket 3"; copied
    // How to do it, instead of what the group selects; equal on all ranks. For tuners.
    const Choice* choice = nullptr;
    // The owner of the buffers, where the caller may go before the operation has ended (an exception): kept as long as they are used.
    std::shared_ptr<void> owner{};
};

// The handle of one started operation. Cheap to copy; all copies see the same operation.
class Request {
  public:
    struct State;
    Request() = default;
    explicit Request(std::shared_ptr<State> state) : state_(std::move(state)) {}

    bool valid() const { return state_ != nullptr; }
    bool test() const;  // true once done; rethrows the operation's error
    // Waits without spinning. After `GroupOptions::stall_report` a message names the operation and the ranks that are missing; after
    // `GroupOptions::timeout` it throws Error(collective).
    void wait() const;
    // Seconds from start on the progress thread to completion; valid once done.
    Seconds duration() const;

  private:
    std::shared_ptr<State> state_;
};

class Group {
  public:
    virtual ~Group() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    // In place: `buffer` is input and output.
    virtual Request start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options = {}) = 0;
    // Every rank contributes `send`: size() * receive.count elements; `receive` becomes the reduction of part rank().
    virtual Request start_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                         const OperationOptions& options = {});
    virtual Request start_broadcast(BufferView buffer, int root, const OperationOptions& options = {}) = 0;
    // Every rank contributes `send` (same count on all ranks); `receive` holds size() * send.count elements, by rank.
    virtual Request start_allgather(BufferView send, BufferView receive,
                                    const OperationOptions& options = {}) = 0;
    virtual Request start_barrier(const OperationOptions& options = {}) = 0;

    // A small operation is fastest in these: the calling thread takes part itself.
    virtual void allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options = {});
    virtual void reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                const OperationOptions& options = {});
    virtual void broadcast(BufferView buffer, int root, const OperationOptions& options = {});
    virtual void allgather(BufferView send, BufferView receive, const OperationOptions& options = {});
    virtual void barrier();
    // Not in place: `send` stays. Copied to `receive` by the calling thread, then in place.
    void allreduce(BufferView send, BufferView receive, ReduceOp op, const OperationOptions& options = {});
    Request start_allreduce(BufferView send, BufferView receive, ReduceOp op,
                            const OperationOptions& options = {});
    // Strings of any length, one from each rank, by rank; the result is the same on all.
    std::vector<std::string> allgather_strings(const std::string& mine);
    std::string broadcast_string(const std::string& from_root, int root);

    // Ranks with equal `color` form a new group, ordered by `key`, then by rank here; a negative color: no
    // group (null). All ranks of this group call it, at the same place in the order of operations. The new
    // group has this one's options and progress thread.
    virtual std::unique_ptr<Group> split(int color, int key);

    // Memory that this group reduces fastest: shared with the ranks of this node. Freed with the last owner; zero-filled,
    // 64-byte aligned.
    virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;

    virtual std::string description() const = 0;  // "MPICH 4.0.2, 2 ranks on 1 node, native-pipelined"
};

}  // namespace mastic::comm
