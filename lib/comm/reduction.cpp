#include <mastic/comm/reduction.hpp>

#include <string>

#include <mastic/comm/detail/arithmetic.hpp>
#include <mastic/comm/detail/vectorised.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

using detail::Vectorised;

template <class Element, class Operation>
[[gnu::always_inline]] inline void reduce(void* into, const void* from, std::size_t count) {
    auto* a = static_cast<Element*>(into);
    const auto* b = static_cast<const Element*>(from);
    for (std::size_t i = 0; i < count; ++i) {
        a[i] = detail::apply<Operation>(a[i], b[i]);
    }
}

template <class Element, class Operation>
[[gnu::always_inline]] inline void reduce_both(void* first, void* second, std::size_t count) {
    auto* a = static_cast<Element*>(first);
    auto* b = static_cast<Element*>(second);
    for (std::size_t i = 0; i < count; ++i) {
        a[i] = b[i] = detail::apply<Operation>(a[i], b[i]);
    }
}

template <class Element>
[[gnu::always_inline]] inline void scale(void* data, std::size_t count, int ranks) {
    auto* values = static_cast<Element*>(data);
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<Element>) {
            values[i] = static_cast<Element>(values[i] / ranks);
        } else if constexpr (detail::is_half<Element>) {
            narrow(widen(values[i]) * (1 / static_cast<float>(ranks)), values[i]);
        } else {
            values[i] *= 1 / static_cast<Element>(ranks);
        }
    }
}

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
                return visit(element, detail::Min{});
            case ReduceOp::max:
                return visit(element, detail::Max{});
            case ReduceOp::sum:
            case ReduceOp::average:
                break;
        }
        return visit(element, detail::Sum{});
    });
}

}  // namespace

void require_supported(DataType type, ReduceOp op) {
    if (type == DataType::boolean && (op == ReduceOp::sum || op == ReduceOp::average)) {
        throw Error(ExitCode::usage, std::string("boolean has no ") + to_string(op),
                    "use min (and) or max (or)");
    }
}

ReduceFunction find_reduce(DataType type, ReduceOp op) {
    return visit_operation(type, op, [](auto element, auto operation) {
        return Vectorised<reduce<decltype(element), decltype(operation)>>::choose();
    });
}

ReduceBothFunction find_reduce_both(DataType type, ReduceOp op) {
    return visit_operation(type, op, [](auto element, auto operation) {
        return Vectorised<reduce_both<decltype(element), decltype(operation)>>::choose();
    });
}

void scale_to_average(BufferView sum, int ranks) {
    visit_element(sum.type, [&](auto element) {
        Vectorised<scale<decltype(element)>>::choose()(sum.data, sum.count, ranks);
    });
}

}  // namespace mastic::comm
