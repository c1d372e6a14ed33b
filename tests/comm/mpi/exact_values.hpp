// Contributions whose reductions are exactly known in every type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/group.hpp>
#include <mastic/comm/half.hpp>

namespace mastic::test {

using comm::BFloat16;
using comm::Float16;
using comm::Group;
using comm::ReduceOp;

// Small integers, so that every partial sum is exact in every type, bfloat16 (8 bits) and int8 included.
inline int value_of(int rank, std::size_t index) {
    return static_cast<int>((index * 7 + static_cast<std::size_t>(rank) * 3) % 13) - 6;
}

inline int expected_of(int ranks, std::size_t index, ReduceOp op) {
    int sum = 0;
    int least = std::numeric_limits<int>::max();
    int most = std::numeric_limits<int>::min();
    for (int rank = 0; rank < ranks; ++rank) {
        const int value = value_of(rank, index);
        sum += value;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return op == ReduceOp::min ? least : op == ReduceOp::max ? most : sum;
}

struct Scalar {
    template <class T>
    static T make(int value) {
        return static_cast<T>(value);
    }
};
template <>
inline Float16 Scalar::make<Float16>(int value) {
    Float16 half;
    narrow(static_cast<float>(value), half);
    return half;
}
template <>
inline BFloat16 Scalar::make<BFloat16>(int value) {
    BFloat16 half;
    narrow(static_cast<float>(value), half);
    return half;
}

template <class T>
T average_of(int sum, int ranks) {
    return static_cast<T>(std::is_integral_v<T> ? sum / ranks : T(sum) * (T(1) / static_cast<T>(ranks)));
}
template <>
inline Float16 average_of<Float16>(int sum, int ranks) {
    Float16 half;
    narrow(static_cast<float>(sum) * (1.0f / static_cast<float>(ranks)), half);
    return half;
}
template <>
inline BFloat16 average_of<BFloat16>(int sum, int ranks) {
    BFloat16 half;
    narrow(static_cast<float>(sum) * (1.0f / static_cast<float>(ranks)), half);
    return half;
}

template <class T>
void expect_exact(Group& group, DataType type, ReduceOp op, std::size_t count) {
    std::vector<T> values(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = Scalar::make<T>(value_of(group.rank(), i));
    }
    const T guard = Scalar::make<T>(5);
    values[count] = guard;
    group.allreduce({values.data(), count, type}, op);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int exact = expected_of(group.size(), i, op);
        const T expected =
            op == ReduceOp::average ? average_of<T>(exact, group.size()) : Scalar::make<T>(exact);
        wrong += std::memcmp(&values[i], &expected, sizeof(T)) != 0;
    }
    EXPECT_EQ(wrong, 0u) << to_string(op) << " of " << count << " x " << to_string(type);
    EXPECT_EQ(std::memcmp(&values[count], &guard, sizeof(T)), 0) << "wrote behind the end";
}

inline void expect_every_type_exact(Group& group, ReduceOp op, std::size_t count) {
    expect_exact<float>(group, DataType::float32, op, count);
    expect_exact<double>(group, DataType::float64, op, count);
    expect_exact<Float16>(group, DataType::float16, op, count);
    expect_exact<BFloat16>(group, DataType::bfloat16, op, count);
    expect_exact<std::int8_t>(group, DataType::int8, op, count);
    expect_exact<std::int16_t>(group, DataType::int16, op, count);
    expect_exact<std::int32_t>(group, DataType::int32, op, count);
    expect_exact<std::int64_t>(group, DataType::int64, op, count);
}

}  // namespace mastic::test
