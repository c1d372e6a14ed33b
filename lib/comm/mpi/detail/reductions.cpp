#include <mastic/comm/mpi/detail/reductions.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <mastic/comm/half.hpp>
#include <mastic/comm/mpi/detail/check.hpp>

namespace mastic::comm::detail {

namespace {

float widen(float value) {
    return value;
}
double widen(double value) {
    return value;
}
void narrow(float value, float& out) {
    out = value;
}
void narrow(double value, double& out) {
    out = value;
}
using comm::narrow;
using comm::widen;

struct Sum {
    template <class Real>
    static Real apply(Real a, Real b) {
        return a + b;
    }
};
// A NaN on either side gives the one quiet NaN, whatever its bits were.
struct Min {
    template <class Real>
    static Real apply(Real a, Real b) {
        const Real smaller = a < b || (a == b && std::signbit(a)) ? a : b;
        return a != a || b != b ? std::numeric_limits<Real>::quiet_NaN() : smaller;
    }
};
struct Max {
    template <class Real>
    static Real apply(Real a, Real b) {
        const Real larger = a > b || (a == b && !std::signbit(a)) ? a : b;
        return a != a || b != b ? std::numeric_limits<Real>::quiet_NaN() : larger;
    }
};

template <class Element, class Operation>
void reduce(void* in, void* inout, int* count, MPI_Datatype*) {
    const auto* a = static_cast<const Element*>(in);
    auto* b = static_cast<Element*>(inout);
    for (int i = 0; i < *count; ++i) {
        narrow(Operation::apply(widen(a[i]), widen(b[i])), b[i]);
    }
}

MPI_Op create(MPI_User_function* function) {
    MPI_Op op = MPI_OP_NULL;
    check(MPI_Op_create(function, 1, &op), "MPI_Op_create");
    return op;
}

template <class Element>
std::array<MPI_Op, 3> create_all() {
    return {create(reduce<Element, Sum>), create(reduce<Element, Min>), create(reduce<Element, Max>)};
}

template <class Element>
void scale(void* data, std::size_t count, int ranks) {
    auto* values = static_cast<Element*>(data);
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<Element>) {
            values[i] = static_cast<Element>(values[i] / ranks);
        } else {
            using Real = decltype(widen(values[i]));
            narrow(widen(values[i]) * (Real(1) / static_cast<Real>(ranks)), values[i]);
        }
    }
}

}  // namespace

MPI_Datatype mpi_type(DataType type) {
    switch (type) {
        case DataType::float32:
            return MPI_FLOAT;
        case DataType::float64:
            return MPI_DOUBLE;
        case DataType::float16:
        case DataType::bfloat16:
            return MPI_UINT16_T;
        case DataType::int8:
            return MPI_INT8_T;
        case DataType::uint8:
        case DataType::boolean:
            return MPI_UINT8_T;
        case DataType::int16:
            return MPI_INT16_T;
        case DataType::int32:
            return MPI_INT32_T;
        case DataType::int64:
            return MPI_INT64_T;
    }
    throw Error(ExitCode::usage, "no MPI type for this data type");
}

void require_supported(DataType type, ReduceOp op) {
    if (type == DataType::boolean && (op == ReduceOp::sum || op == ReduceOp::average)) {
        throw Error(ExitCode::usage, std::string("boolean has no ") + to_string(op),
                    "use min (and) or max (or)");
    }
}

Reductions::Reductions() {
    operations_[float16] = create_all<Float16>();
    operations_[bfloat16] = create_all<BFloat16>();
    operations_[float32] = create_all<float>();
    operations_[float64] = create_all<double>();
}

MPI_Op Reductions::find(DataType type, ReduceOp op) const {
    const Kind kind = op == ReduceOp::min ? min : op == ReduceOp::max ? max : sum;
    switch (type) {
        case DataType::float16:
            return operations_[float16][kind];
        case DataType::bfloat16:
            return operations_[bfloat16][kind];
        case DataType::float32:
            return kind == sum ? MPI_SUM : operations_[float32][kind];
        case DataType::float64:
            return kind == sum ? MPI_SUM : operations_[float64][kind];
        default:
            return kind == min ? MPI_MIN : kind == max ? MPI_MAX : MPI_SUM;
    }
}

void scale_to_average(BufferView sum, int ranks) {
    switch (sum.type) {
        case DataType::float32:
            return scale<float>(sum.data, sum.count, ranks);
        case DataType::float64:
            return scale<double>(sum.data, sum.count, ranks);
        case DataType::float16:
            return scale<Float16>(sum.data, sum.count, ranks);
        case DataType::bfloat16:
            return scale<BFloat16>(sum.data, sum.count, ranks);
        case DataType::int8:
            return scale<std::int8_t>(sum.data, sum.count, ranks);
        case DataType::uint8:
            return scale<std::uint8_t>(sum.data, sum.count, ranks);
        case DataType::int16:
            return scale<std::int16_t>(sum.data, sum.count, ranks);
        case DataType::int32:
            return scale<std::int32_t>(sum.data, sum.count, ranks);
        case DataType::int64:
            return scale<std::int64_t>(sum.data, sum.count, ranks);
        case DataType::boolean:
            return;
    }
}

}  // namespace mastic::comm::detail
