#include <mastic/interposer/element.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <mastic/interposer/pmpi.hpp>

namespace mastic::interposer {

using namespace comm;

namespace {

enum class Kind { real, complex, signed_integer, unsigned_integer };

struct BuiltIn {
    MPI_Datatype type;
    Kind kind;
    std::size_t bytes = 0;
};

// The most frequent ones first. What the library has not (Fortran may be missing) is MPI_DATATYPE_NULL.
constexpr std::array built_ins = {
    BuiltIn{MPI_FLOAT, Kind::real},
    BuiltIn{MPI_DOUBLE, Kind::real},
    BuiltIn{MPI_INT, Kind::signed_integer},
    BuiltIn{MPI_LONG, Kind::signed_integer},
    BuiltIn{MPI_INT64_T, Kind::signed_integer},
    BuiltIn{MPI_INT32_T, Kind::signed_integer},
    BuiltIn{MPI_UNSIGNED_LONG, Kind::unsigned_integer},
    BuiltIn{MPI_UNSIGNED, Kind::unsigned_integer},
    BuiltIn{MPI_UINT64_T, Kind::unsigned_integer},
    BuiltIn{MPI_UINT32_T, Kind::unsigned_integer},
    BuiltIn{MPI_DOUBLE_PRECISION, Kind::real},
    BuiltIn{MPI_REAL, Kind::real},
    BuiltIn{MPI_INTEGER, Kind::signed_integer},
    BuiltIn{MPI_LONG_LONG, Kind::signed_integer},
    BuiltIn{MPI_UNSIGNED_LONG_LONG, Kind::unsigned_integer},
    BuiltIn{MPI_SIGNED_CHAR, Kind::signed_integer},
    BuiltIn{MPI_UNSIGNED_CHAR, Kind::unsigned_integer},
    BuiltIn{MPI_SHORT, Kind::signed_integer},
    BuiltIn{MPI_UNSIGNED_SHORT, Kind::unsigned_integer},
    BuiltIn{MPI_INT8_T, Kind::signed_integer},
    BuiltIn{MPI_INT16_T, Kind::signed_integer},
    BuiltIn{MPI_UINT8_T, Kind::unsigned_integer},
    BuiltIn{MPI_UINT16_T, Kind::unsigned_integer},
    BuiltIn{MPI_AINT, Kind::signed_integer},
    BuiltIn{MPI_OFFSET, Kind::signed_integer},
    BuiltIn{MPI_COUNT, Kind::signed_integer},
    BuiltIn{MPI_C_FLOAT_COMPLEX, Kind::complex},
    BuiltIn{MPI_C_DOUBLE_COMPLEX, Kind::complex},
    BuiltIn{MPI_COMPLEX, Kind::complex},
    BuiltIn{MPI_DOUBLE_COMPLEX, Kind::complex},
    BuiltIn{MPI_INTEGER1, Kind::signed_integer},
    BuiltIn{MPI_INTEGER2, Kind::signed_integer},
    BuiltIn{MPI_INTEGER4, Kind::signed_integer},
    BuiltIn{MPI_INTEGER8, Kind::signed_integer},
    BuiltIn{MPI_REAL4, Kind::real},
    BuiltIn{MPI_REAL8, Kind::real},
    BuiltIn{MPI_COMPLEX8, Kind::complex},
    BuiltIn{MPI_COMPLEX16, Kind::complex},
};

// Compiler flags decide how long Fortran's types are, so the library is asked.
std::vector<BuiltIn> measure() {
    std::vector<BuiltIn> measured;
    for (BuiltIn entry : built_ins) {
        MPI_Count bytes = 0;
        if (entry.type != MPI_DATATYPE_NULL && pmpi().type_size_x(entry.type, &bytes) == MPI_SUCCESS) {
            entry.bytes = static_cast<std::size_t>(bytes);
            measured.push_back(entry);
        }
    }
    return measured;
}

const BuiltIn* find_built_in(MPI_Datatype type) {
    static const auto& measured = *new std::vector<BuiltIn>(measure());
    const auto found = std::ranges::find(measured, type, &BuiltIn::type);
    return found == measured.end() ? nullptr : &*found;
}

std::optional<DataType> real_of(std::size_t bytes) {
    switch (bytes) {
        case 4:
            return DataType::float32;
        case 8:
            return DataType::float64;
        default:
            return std::nullopt;
    }
}

std::optional<DataType> integer_of(std::size_t bytes) {
    switch (bytes) {
        case 1:
            return DataType::int8;
        case 2:
            return DataType::int16;
        case 4:
            return DataType::int32;
        case 8:
            return DataType::int64;
        default:
            return std::nullopt;
    }
}

std::optional<DataType> unsigned_of(std::size_t bytes, ReduceOp op) {
    if (bytes == 1) {
        return DataType::uint8;
    }
    return op == ReduceOp::sum ? integer_of(bytes) : std::nullopt;
}

std::optional<DataType> data_type_of(const BuiltIn& entry, ReduceOp op) {
    switch (entry.kind) {
        case Kind::real:
            return real_of(entry.bytes);
        case Kind::complex:
            return op == ReduceOp::sum ? real_of(entry.bytes / 2) : std::nullopt;
        case Kind::signed_integer:
            return integer_of(entry.bytes);
        case Kind::unsigned_integer:
            return unsigned_of(entry.bytes, op);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::size_t> size_of_built_in(MPI_Datatype type) {
    const BuiltIn* entry = find_built_in(type);
    return entry == nullptr ? std::nullopt : std::optional(entry->bytes);
}

std::optional<ReduceOp> find_op(MPI_Op op) {
    switch (op) {
        case MPI_SUM:
            return ReduceOp::sum;
        case MPI_MIN:
            return ReduceOp::min;
        case MPI_MAX:
            return ReduceOp::max;
        default:
            return std::nullopt;
    }
}

std::optional<Element> find_element(MPI_Datatype type, MPI_Op op) {
    const auto known_op = find_op(op);
    const BuiltIn* entry = find_built_in(type);
    if (!known_op || entry == nullptr) {
        return std::nullopt;
    }
    const auto data_type = data_type_of(*entry, *known_op);
    if (!data_type) {
        return std::nullopt;
    }
    return Element{*data_type, entry->kind == Kind::complex ? std::size_t{2} : std::size_t{1}};
}

}  // namespace mastic::interposer
