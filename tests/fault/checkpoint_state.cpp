#include "fault/checkpoint_state.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <mastic/core/random.hpp>

namespace mastic::test {

using namespace mastic::checkpoint;

namespace {

constexpr std::int64_t rows = 192;
constexpr std::int64_t columns = 96;
constexpr std::uint64_t row_bytes = columns * sizeof(float);

struct Bytes {
    std::shared_ptr<std::vector<std::byte>> data;
    std::span<const std::byte> span() const { return *data; }
};

// `stream` tells the tensors of a step apart.
Bytes bytes_of(std::uint64_t step, std::uint64_t stream, std::size_t size) {
    CounterRandom random(CounterRandom::derive(step, stream));
    auto data = std::make_shared<std::vector<std::byte>>(size);
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
        const std::uint64_t word = random.next();
        std::memcpy(data->data() + i, &word, std::min(sizeof word, size - i));
    }
    return {data};
}

StateEntry tensor(const char* name, DataType type, std::vector<std::int64_t> shape, const Bytes& bytes) {
    return whole_entry(name, type, std::move(shape), bytes.span(), bytes.data);
}

StateEntry rows_of_weight(std::uint64_t step, int writer, int writers) {
    const Bytes all = bytes_of(step, 1, rows * row_bytes);
    StateEntry entry = tensor("model/fc.weight", DataType::float32, {rows, columns}, all);
    const std::int64_t begin = rows * writer / writers;
    const std::int64_t end = rows * (writer + 1) / writers;
    entry.shape[0] = end - begin;
    entry.offset[0] = begin;
    entry.bytes = entry.bytes.subspan(static_cast<std::uint64_t>(begin) * row_bytes,
                                      static_cast<std::uint64_t>(end - begin) * row_bytes);
    return entry;
}

}  // namespace

State state_of_step(std::uint64_t step, int writer, int writers) {
    State state;
    state.entries.push_back(rows_of_weight(step, writer, writers));
    const std::string generator = "rng/rank-" + std::to_string(writer);
    state.entries.push_back(tensor(generator.c_str(), DataType::uint8, {40},
                                   bytes_of(step, 100 + static_cast<std::uint64_t>(writer), 40)));
    if (writer == 0) {
        state.entries.push_back(
            tensor("model/fc.bias", DataType::float32, {columns}, bytes_of(step, 2, row_bytes)));
        state.entries.push_back(tensor("model/norm.count", DataType::int64, {}, bytes_of(step, 3, 8)));
        state.entries.push_back(tensor("optimizer/momentum/conv.weight", DataType::bfloat16, {8, 3, 3, 3},
                                       bytes_of(step, 4, 432)));
        state.entries.push_back(tensor("residual/none", DataType::float16, {0, 4}, bytes_of(step, 5, 0)));
    }
    return state;
}

std::string difference_from_step(const State& restored, std::uint64_t step, int writers) {
    State expected = state_of_step(step, 0, 1);
    for (int writer = 1; writer < writers; ++writer) {
        expected.entries.push_back(state_of_step(step, writer, writers).entries.at(1));
    }
    if (restored.entries.size() != expected.entries.size()) {
        return std::to_string(restored.entries.size()) + " tensors instead of " +
               std::to_string(expected.entries.size());
    }
    for (const StateEntry& want : expected.entries) {
        const StateEntry* have = restored.find(want.name);
        if (have == nullptr) {
            return want.name + " is missing";
        }
        if (have->type != want.type || have->shape != want.shape || have->is_slice()) {
            return want.name + " has another type or shape";
        }
        if (!std::ranges::equal(have->bytes, want.bytes)) {
            return want.name + " has other bytes";
        }
    }
    return "";
}

StoreOptions small_store_options() {
    StoreOptions options;
    options.image_bytes = smallest_image;
    options.retention.keep_last = 2;
    return options;
}

CommitReport save_step(const CheckpointStore& store, std::uint64_t step, int writers) {
    std::vector<ShardRecord> records;
    for (int writer = 0; writer < writers; ++writer) {
        records.push_back(store.write_shard(step, writer, writers, state_of_step(step, writer, writers)));
    }
    return store.commit({step, step * 64, writers, R"({"epoch":1})"}, records);
}

}  // namespace mastic::test
