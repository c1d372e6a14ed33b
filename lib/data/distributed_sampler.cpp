#include <mastic/data/distributed_sampler.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>

namespace mastic::data {

namespace {

// How many of `count` samples come before a member, when `before` of `all` shares do.
std::uint64_t boundary(std::uint64_t count, std::uint64_t before, std::uint64_t all) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide(count) * before / all);
}

void check_rank(int rank, std::size_t world_size, std::uint64_t dataset_size) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= world_size) {
        throw Error(ExitCode::usage,
                    "no rank " + std::to_string(rank) + " among " + std::to_string(world_size));
    }
    if (dataset_size < world_size) {
        throw Error(ExitCode::data,
                    "the data set has " + std::to_string(dataset_size) + " samples for " +
                        std::to_string(world_size) + " ranks",
                    "use fewer ranks or more data");
    }
}

}  // namespace

DistributedSampler::DistributedSampler(std::uint64_t dataset_size, std::uint64_t global_batch,
                                       std::uint64_t seed, bool shuffle)
    : size_(dataset_size), global_batch_(0), seed_(seed), shuffle_(shuffle) {
    if (size_ == 0) {
        throw Error(ExitCode::data, "the data set has 0 samples", "check the paths and data.limit");
    }
    set_global_batch(global_batch);
    order_epoch();
}

void DistributedSampler::set_global_batch(std::uint64_t global_batch) {
    if (global_batch == 0) {
        throw Error(ExitCode::usage, "the global batch must have at least one sample");
    }
    global_batch_ = global_batch;
}

void DistributedSampler::set_position(SamplerPosition position) {
    if (position.consumed > size_) {
        throw Error(ExitCode::checkpoint,
                    "the stored position is sample " + std::to_string(position.consumed) +
                        " of an epoch, the data set has " + std::to_string(size_),
                    "resume with the data set that the run was started with");
    }
    position_ = position;
}

void DistributedSampler::next_into(StepPlan& plan, int rank, std::span<const std::uint64_t> shares) {
    check_rank(rank, shares.size(), size_);
    const auto mine = shares.begin() + rank;
    const auto all = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
    if (all == 0) {
        throw Error(ExitCode::usage, "the shares of all ranks are zero");
    }
    advance(plan, std::accumulate(shares.begin(), mine, std::uint64_t{0}), *mine, all);
}

void DistributedSampler::next_into(StepPlan& plan, int rank, int world_size) {
    check_rank(rank, static_cast<std::size_t>(std::max(world_size, 0)), size_);
    advance(plan, static_cast<std::uint64_t>(rank), 1, static_cast<std::uint64_t>(world_size));
}

void DistributedSampler::advance(StepPlan& plan, std::uint64_t shares_before, std::uint64_t share,
                                 std::uint64_t all_shares) {
    if (position_.consumed == size_) {
        position_ = {position_.epoch + 1, 0};
    }
    if (shuffle_ && ordered_epoch_ != position_.epoch) {
        order_epoch();
    }
    const auto start = position_.consumed;
    const auto count = std::min(global_batch_, size_ - start);
    const auto from = start + boundary(count, shares_before, all_shares);
    const auto to = start + boundary(count, shares_before + share, all_shares);
    plan.ids.resize(to - from);
    if (shuffle_) {
        std::copy(order_.begin() + static_cast<std::ptrdiff_t>(from),
                  order_.begin() + static_cast<std::ptrdiff_t>(to), plan.ids.begin());
    } else {
        std::iota(plan.ids.begin(), plan.ids.end(), from);
    }
    position_.consumed += count;
    plan.global_count = count;
    plan.epoch = position_.epoch;
    plan.first_of_epoch = start == 0;
    plan.last_of_epoch = position_.consumed == size_;
    plan.after = position_;
}

void DistributedSampler::order_epoch() {
    if (shuffle_) {
        order_ = random_permutation(size_, CounterRandom(CounterRandom::derive(seed_, position_.epoch)));
        ordered_epoch_ = position_.epoch;
    }
}

}  // namespace mastic::data
