#include <mastic/tuning/workload.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace mastic::tuning {
namespace {

using comm::Collective;

constexpr int most_partial_sum = 256;

// Only every stride-th rank contributes to an element, so that the sum over many ranks stays small.
int stride_of(int ranks) {
    return (ranks + 127) / 128;
}
int values_of(int ranks) {
    const int contributors = (ranks + stride_of(ranks) - 1) / stride_of(ranks);
    return std::clamp(most_partial_sum / contributors, 2, 16);
}

// Contributions of a rank, and their sums, repeat after few elements: these are the first ones, some thousand of them.
std::vector<float> tile_of(int ranks, float (*value)(int rank, int ranks, std::size_t index), int rank) {
    constexpr std::size_t enough = 4096;
    const auto period = static_cast<std::size_t>(stride_of(ranks) * values_of(ranks));
    std::vector<float> tile((enough + period - 1) / period * period);
    for (std::size_t i = 0; i < tile.size(); ++i) {
        tile[i] = i < period ? value(rank, ranks, i) : tile[i - period];
    }
    return tile;
}

// Calls `action(run of values, run of the tile)` for all values, the first of which is element `begin`.
template <class Action>
void along(std::span<float> values, std::size_t begin, const std::vector<float>& tile, const Action& action) {
    for (std::size_t done = 0; done < values.size();) {
        const std::size_t at = (begin + done) % tile.size();
        const std::size_t count = std::min(values.size() - done, tile.size() - at);
        action(values.subspan(done, count), std::span(tile).subspan(at, count));
        done += count;
    }
}

void copy_tile(std::span<float> values, std::size_t begin, const std::vector<float>& tile) {
    along(values, begin, tile,
          [](std::span<float> to, std::span<const float> from) { std::ranges::copy(from, to.begin()); });
}

float sum_at(int, int ranks, std::size_t index) {
    return sum_of_contributions(ranks, index);
}

}  // namespace

float contribution(int rank, int ranks, std::size_t index) {
    const auto stride = static_cast<std::size_t>(stride_of(ranks)),
               values = static_cast<std::size_t>(values_of(ranks));
    const auto place = static_cast<std::size_t>(rank);
    return place % stride == index % stride ? static_cast<float>((index * 7 + place * 3 + 1) % values) : 0.0F;
}

float sum_of_contributions(int ranks, std::size_t index) {
    const int stride = stride_of(ranks);
    float sum = 0;
    for (int rank = static_cast<int>(index % static_cast<std::size_t>(stride)); rank < ranks;
         rank += stride) {
        sum += contribution(rank, ranks, index);
    }
    return sum;
}

comm::BufferView Workload::Buffer::view() const {
    comm::BufferView view = comm::view_of(values);
    if (on_device) {
        view.data = on_device.get();
        view.memory = comm::MemoryKind::device;
    }
    return view;
}

Workload::Workload(comm::Group& group, Collective collective, Bytes size,
                   std::shared_ptr<comm::Device> device)
    : group_(group), collective_(collective), device_(std::move(device)) {
    if (device_) {
        stream_ = device_->make_stream();
    }
    const auto ranks = static_cast<std::size_t>(group.size());
    std::size_t count = std::max<std::size_t>(size.count / sizeof(float), 1);
    if (collective == Collective::reduce_scatter || collective == Collective::allgather) {
        const std::size_t part = std::max<std::size_t>(count / ranks, 1);
        count = part * ranks;
        part_ = make_buffer(part);
    }
    whole_ = make_buffer(count);
}

Workload::Buffer Workload::make_buffer(std::size_t count) {
    Buffer buffer;
    const std::size_t bytes = count * sizeof(float);
    buffer.memory = group_.allocate(bytes);
    buffer.values = {static_cast<float*>(buffer.memory.get()), count};
    if (device_) {
        buffer.on_device = device_->allocate(bytes);
    }
    return buffer;
}

void Workload::upload() {
    for (const Buffer* buffer : {&whole_, &part_}) {
        if (buffer->on_device) {
            stream_->copy(buffer->on_device.get(), buffer->values.data(), buffer->values.size_bytes());
            stream_->drain();
        }
    }
}

void Workload::download() {
    for (const Buffer* buffer : {&whole_, &part_}) {
        if (buffer->on_device) {
            stream_->copy(buffer->values.data(), buffer->on_device.get(), buffer->values.size_bytes());
            stream_->drain();
        }
    }
}

void Workload::fill() {
    constexpr float nothing_yet = -1;
    std::ranges::fill(whole_.values, nothing_yet);
    std::ranges::fill(part_.values, nothing_yet);
    switch (collective_) {
        case Collective::allreduce:
        case Collective::reduce_scatter:
            copy_tile(whole_.values, 0, tile_of(group_.size(), contribution, group_.rank()));
            break;
        case Collective::broadcast:
            if (group_.rank() == 0) {
                copy_tile(whole_.values, 0, tile_of(1, contribution, 0));
            }
            break;
        case Collective::allgather:
            copy_tile(part_.values, part_begin(), tile_of(1, contribution, 0));
            break;
    }
    upload();
}

void Workload::clear() {
    std::ranges::fill(whole_.values, 0.0F);
    std::ranges::fill(part_.values, 0.0F);
    upload();
}

void Workload::run(const comm::Choice& choice, int turn) {
    const comm::OperationOptions options{.name = comm::to_string(collective_), .choice = &choice};
    switch (collective_) {
        case Collective::allreduce:
            group_.allreduce(whole_.view(), comm::ReduceOp::sum, options);
            break;
        case Collective::reduce_scatter:
            group_.reduce_scatter(whole_.view(), part_.view(), comm::ReduceOp::sum, options);
            break;
        case Collective::broadcast:
            group_.broadcast(whole_.view(), turn % group_.size(), options);
            break;
        case Collective::allgather:
            group_.allgather(part_.view(), whole_.view(), options);
            break;
    }
}

bool Workload::is_right() {
    download();
    const bool sums = collective_ == Collective::allreduce || collective_ == Collective::reduce_scatter;
    const bool own_part = collective_ == Collective::reduce_scatter;
    bool right = true;
    along(own_part ? part_.values : whole_.values, own_part ? part_begin() : 0,
          tile_of(sums ? group_.size() : 1, sum_at, 0),
          [&right](std::span<float> is, std::span<const float> should_be) {
              right = right && std::ranges::equal(is, should_be);
          });
    return right;
}

}  // namespace mastic::tuning
