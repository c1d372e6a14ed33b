#include <mastic/comm/reduction.hpp>

#include <string>

#include <mastic/comm/detail/arithmetic.hpp>
#include <mastic/comm/detail/vectorised.hpp>
#include <mastic/comm/detail/visit_element.hpp>
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
        values[i] = detail::averaged(values[i], ranks);
    }
}

}  // namespace

void require_supported(DataType type, ReduceOp op) {
    if (type == DataType::boolean && (op == ReduceOp::sum || op == ReduceOp::average)) {
        throw Error(ExitCode::usage, std::string("boolean has no ") + to_string(op),
                    "use min (and) or max (or)");
    }
}

ReduceFunction find_reduce(DataType type, ReduceOp op) {
    return detail::visit_operation(type, op, [](auto element, auto operation) {
        return Vectorised<reduce<decltype(element), decltype(operation)>>::choose();
    });
}

ReduceBothFunction find_reduce_both(DataType type, ReduceOp op) {
    return detail::visit_operation(type, op, [](auto element, auto operation) {
        return Vectorised<reduce_both<decltype(element), decltype(operation)>>::choose();
    });
}

void scale_to_average(BufferView sum, int ranks) {
    detail::visit_element(sum.type, [&](auto element) {
        Vectorised<scale<decltype(element)>>::choose()(sum.data, sum.count, ranks);
    });
}

}  // namespace mastic::comm
