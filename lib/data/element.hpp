// Elements of an Array as C++ values: one switch over DataType for the whole folder.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <mastic/core/data_type.hpp>
#include <mastic/core/error.hpp>

namespace mastic::data {

// IEEE 754 binary16, for reading only.
struct Float16 {
    std::uint16_t bits = 0;

    explicit operator float() const {
        const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
        const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
        const std::uint32_t fraction = bits & 0x3FFu;
        if (exponent == 0) {
            const float magnitude = static_cast<float>(fraction) * 0x1.0p-24f;
            return sign != 0 ? -magnitude : magnitude;
        }
        const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
        return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
    }
    explicit operator double() const { return static_cast<float>(*this); }
};

template <class T>
T load_element(const std::byte* data, std::size_t index) {
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
}

// Calls function(std::type_identity<T>{}) with the C++ type of `type`.
template <class Function>
decltype(auto) visit_element_type(DataType type, Function&& function) {
    switch (type) {
        case DataType::float32:
            return function(std::type_identity<float>{});
        case DataType::float64:
            return function(std::type_identity<double>{});
        case DataType::float16:
            return function(std::type_identity<Float16>{});
        case DataType::int8:
            return function(std::type_identity<std::int8_t>{});
        case DataType::uint8:
        case DataType::boolean:
            return function(std::type_identity<std::uint8_t>{});
        case DataType::int16:
            return function(std::type_identity<std::int16_t>{});
        case DataType::int32:
            return function(std::type_identity<std::int32_t>{});
        case DataType::int64:
            return function(std::type_identity<std::int64_t>{});
        case DataType::bfloat16:
            break;
    }
    throw Error(ExitCode::data,
                std::string("data files of type ") + mastic::to_string(type) + " cannot be read",
                "store the data as float32, float16 or integers");
}

// The same for integer types; Error(data) naming `source` for others.
template <class Function>
decltype(auto) visit_integer_type(DataType type, const std::string& source, Function&& function) {
    switch (type) {
        case DataType::int8:
            return function(std::type_identity<std::int8_t>{});
        case DataType::uint8:
            return function(std::type_identity<std::uint8_t>{});
        case DataType::int16:
            return function(std::type_identity<std::int16_t>{});
        case DataType::int32:
            return function(std::type_identity<std::int32_t>{});
        case DataType::int64:
            return function(std::type_identity<std::int64_t>{});
        default:
            break;
    }
    throw Error(ExitCode::data, source + ": holds " + mastic::to_string(type) + " where integers are needed",
                "store tokens as integers");
}

inline bool is_floating_point(DataType type) {
    return type == DataType::float16 || type == DataType::float32 || type == DataType::float64 ||
           type == DataType::bfloat16;
}

}  // namespace mastic::data
