#include <mastic/comm/group.hpp>

#include <algorithm>
#include <cstring>

#include <mastic/core/error.hpp>

namespace mastic::comm {

const char* to_string(ReduceOp op) {
    constexpr const char* names[] = {"sum", "min", "max", "average"};
    return names[static_cast<int>(op)];
}

const char* to_string(MemoryKind kind) {
    constexpr const char* names[] = {"host", "pinned", "device"};
    return names[static_cast<int>(kind)];
}

void Group::allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) {
    start_allreduce(buffer, op, options).wait();
}

void Group::broadcast(BufferView buffer, int root, const OperationOptions& options) {
    start_broadcast(buffer, root, options).wait();
}

void Group::reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                           const OperationOptions& options) {
    start_reduce_scatter(send, receive, op, options).wait();
}

void Group::allgather(BufferView send, BufferView receive, const OperationOptions& options) {
    start_allgather(send, receive, options).wait();
}

namespace {

void copy_contribution(const BufferView& send, const BufferView& receive) {
    if (send.count != receive.count || send.type != receive.type) {
        throw Error(ExitCode::usage, "an allreduce of " + std::to_string(send.count) + " x " +
                                         to_string(send.type) + " cannot fill a buffer of " +
                                         std::to_string(receive.count) + " x " + to_string(receive.type));
    }
    if (is_on_device(send) || is_on_device(receive)) {
        throw Error(ExitCode::usage, "an allreduce from one buffer to another is for host memory only",
                    "copy on the device, then reduce in place");
    }
    if (send.data != receive.data && send.count > 0) {
        std::memcpy(receive.data, send.data, send.bytes());
    }
}

}  // namespace

void Group::allreduce(BufferView send, BufferView receive, ReduceOp op, const OperationOptions& options) {
    copy_contribution(send, receive);
    allreduce(receive, op, options);
}

Request Group::start_allreduce(BufferView send, BufferView receive, ReduceOp op,
                               const OperationOptions& options) {
    copy_contribution(send, receive);
    return start_allreduce(receive, op, options);
}

void Group::barrier() {
    start_barrier({.name = "barrier"}).wait();
}

std::vector<std::string> Group::allgather_strings(const std::string& mine) {
    const auto ranks = static_cast<std::size_t>(size());
    std::int64_t length = static_cast<std::int64_t>(mine.size());
    std::vector<std::int64_t> lengths(ranks);
    start_allgather(view_of(std::span(&length, 1)), view_of(std::span(lengths)),
                    {.name = "lengths of strings"})
        .wait();
    const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<std::uint8_t> padded(longest);
    std::vector<std::uint8_t> all(longest * ranks);
    std::copy(mine.begin(), mine.end(), padded.begin());
    start_allgather(view_of(std::span(padded)), view_of(std::span(all)), {.name = "strings"}).wait();
    std::vector<std::string> strings;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
        strings.emplace_back(begin, begin + lengths[rank]);
    }
    return strings;
}

std::string Group::broadcast_string(const std::string& from_root, int root) {
    std::int64_t length = static_cast<std::int64_t>(from_root.size());
    broadcast(view_of(std::span(&length, 1)), root, {.name = "length of a string"});
    std::string text = rank() == root ? from_root : std::string();
    text.resize(static_cast<std::size_t>(length));
    broadcast({text.data(), text.size(), DataType::uint8}, root, {.name = "string"});
    return text;
}

Request Group::start_reduce_scatter(BufferView, BufferView, ReduceOp, const OperationOptions&) {
    throw Error(ExitCode::usage, "this group has no reduce-scatter: " + description());
}

std::unique_ptr<Group> Group::split(int, int) {
    throw Error(ExitCode::usage, "this group cannot be split: " + description());
}

}  // namespace mastic::comm
