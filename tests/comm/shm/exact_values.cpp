#include "comm/shm/exact_values.hpp"

#include <algorithm>
#include <cstring>

#include <mastic/comm/half.hpp>
#include <mastic/comm/reduction.hpp>

namespace mastic::test {
namespace {

using comm::ReduceOp;

template <class Value>
void put(std::byte* at, Value value) {
    std::memcpy(at, &value, sizeof(value));
}

template <class Half>
void put_half(std::byte* at, int value) {
    Half half;
    comm::narrow(static_cast<float>(value), half);
    put(at, half);
}

void store(DataType type, std::byte* at, int value) {
    switch (type) {
        case DataType::float32:
            return put(at, static_cast<float>(value));
        case DataType::float64:
            return put(at, static_cast<double>(value));
        case DataType::float16:
            return put_half<comm::Float16>(at, value);
        case DataType::bfloat16:
            return put_half<comm::BFloat16>(at, value);
        case DataType::int8:
            return put(at, static_cast<std::int8_t>(value));
        case DataType::uint8:
            return put(at, static_cast<std::uint8_t>(value));
        case DataType::int16:
            return put(at, static_cast<std::int16_t>(value));
        case DataType::int32:
            return put(at, static_cast<std::int32_t>(value));
        case DataType::int64:
            return put(at, static_cast<std::int64_t>(value));
        case DataType::boolean:
            return put(at, value != 0);
    }
}

int value_at(DataType type, std::size_t index, int rank) {
    const int value = static_cast<int>((index * 5 + index / 7 + static_cast<std::size_t>(rank) * 3) % 11);
    if (type == DataType::boolean) {
        return value % 2;
    }
    return type == DataType::uint8 ? value : value - 4;
}

int reduced_at(DataType type, std::size_t index, int ranks, ReduceOp op) {
    int result = value_at(type, index, 0);
    for (int rank = 1; rank < ranks; ++rank) {
        const int value = value_at(type, index, rank);
        result = op == ReduceOp::min   ? std::min(result, value)
                 : op == ReduceOp::max ? std::max(result, value)
                                       : result + value;
    }
    return result;
}

}  // namespace

bool is_supported(DataType type, ReduceOp op) {
    return type != DataType::boolean || op == ReduceOp::min || op == ReduceOp::max;
}

std::vector<std::byte> contribution(DataType type, std::size_t count, int rank) {
    std::vector<std::byte> values(count * size_of(type));
    for (std::size_t i = 0; i < count; ++i) {
        store(type, values.data() + i * size_of(type), value_at(type, i, rank));
    }
    return values;
}

std::vector<std::byte> reduction_of(DataType type, std::size_t count, int ranks, ReduceOp op) {
    std::vector<std::byte> values(count * size_of(type));
    for (std::size_t i = 0; i < count; ++i) {
        store(type, values.data() + i * size_of(type), reduced_at(type, i, ranks, op));
    }
    if (op == ReduceOp::average) {
        comm::scale_to_average({values.data(), count, type}, ranks);
    }
    return values;
}

std::string first_difference(const std::byte* values, const std::vector<std::byte>& expected, DataType type) {
    for (std::size_t at = 0; at < expected.size(); at += size_of(type)) {
        if (std::memcmp(values + at, expected.data() + at, size_of(type)) != 0) {
            return "element " + std::to_string(at / size_of(type)) + " of " +
                   std::to_string(expected.size() / size_of(type)) + " differs";
        }
    }
    return {};
}

}  // namespace mastic::test
