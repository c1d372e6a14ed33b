#include <mastic/elastic/app/context.hpp>

#include <utility>

#include <mastic/core/error.hpp>

namespace mastic::app {
namespace {

std::span<std::byte> bytes_of(const comm::BufferView& values) {
    return {static_cast<std::byte*>(values.data), values.bytes()};
}

comm::Group& group_or_throw(const std::shared_ptr<comm::Group>& group) {
    if (!group) {
        throw Error(ExitCode::usage, "a collective in setup()",
                    "there are no other ranks yet: use it in step() or evaluate()");
    }
    return *group;
}

}  // namespace

Part Context::part(std::uint64_t count) const {
    if (tape_.replays()) {
        return {};
    }
    const auto share = [&](int ranks) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>(Wide(count) * static_cast<unsigned>(ranks) /
                                          static_cast<unsigned>(size_));
    };
    return {share(rank_), share(rank_ + 1)};
}

void Context::allreduce(comm::BufferView values, comm::ReduceOp op) {
    if (!tape_.replays()) {
        group_or_throw(group_).allreduce(values, op);
    }
    tape_.pass(bytes_of(values));
}

void Context::broadcast(comm::BufferView values, int root) {
    if (!tape_.replays()) {
        group_or_throw(group_).broadcast(values, root);
    }
    tape_.pass(bytes_of(values));
}

void Context::join(std::shared_ptr<comm::Group> group) {
    group_ = std::move(group);
    if (group_) {
        rank_ = group_->rank();
        size_ = group_->size();
    }
}

}  // namespace mastic::app
