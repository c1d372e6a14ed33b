#include <mastic/comm/mpi/detail/reductions.hpp>

#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/reduction.hpp>

namespace mastic::comm::detail {

namespace {

// Our arithmetic as MPI calls it.
template <DataType type, ReduceOp op>
void reduce(void* in, void* inout, int* count, MPI_Datatype*) {
    static const ReduceFunction function = find_reduce(type, op);
    function(inout, in, static_cast<std::size_t>(*count));
}

MPI_Op create(MPI_User_function* function) {
    MPI_Op op = MPI_OP_NULL;
    check(MPI_Op_create(function, 1, &op), "MPI_Op_create");
    return op;
}

template <DataType type>
std::array<MPI_Op, 3> create_all() {
    return {create(reduce<type, ReduceOp::sum>), create(reduce<type, ReduceOp::min>),
            create(reduce<type, ReduceOp::max>)};
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

Reductions::Reductions() {
    operations_[float16] = create_all<DataType::float16>();
    operations_[bfloat16] = create_all<DataType::bfloat16>();
    operations_[float32] = create_all<DataType::float32>();
    operations_[float64] = create_all<DataType::float64>();
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

}  // namespace mastic::comm::detail
