// From a DataType and a ReduceOp to the C++ types that the loops and kernels are written for.
#pragma once

#include <cstdint>

#include <mastic/comm/detail/arithmetic.hpp>
#include <mastic/comm/reduction.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm::detail {

// Calls `visit` with a value of the C++ type of `type`'s elements.
template <class Visitor>
auto visit_element(DataType type, Visitor visit) {
    switch (type) {
        case DataType::float32:
            return visit(float{});
        case DataType::float64:
            return visit(double{});
        case DataType::float16:
            return visit(Float16{});
        case DataType::bfloat16:
            return visit(BFloat16{});
        case DataType::int8:
            return visit(std::int8_t{});
        case DataType::int16:
            return visit(std::int16_t{});
        case DataType::int32:
            return visit(std::int32_t{});
        case DataType::int64:
            return visit(std::int64_t{});
        case DataType::uint8:
        case DataType::boolean:
            return visit(std::uint8_t{});
    }
    throw Error(ExitCode::usage, "no arithmetic for this data type");
}

// Calls `visit` with values of the element's type and of the operation's.
template <class Visitor>
auto visit_operation(DataType type, ReduceOp op, Visitor visit) {
    require_supported(type, op);
    return visit_element(type, [&](auto element) {
        switch (op) {
            case ReduceOp::min:
                return visit(element, Min{});
            case ReduceOp::max:
                return visit(element, Max{});
            case ReduceOp::sum:
            case ReduceOp::average:
                break;
        }
        return visit(element, Sum{});
    });
}

}  // namespace mastic::comm::detail
