#include <mastic/checkpoint/hdf5_handle.hpp>

#include <mastic/core/hdf5_mutex.hpp>

namespace mastic::checkpoint {

Hdf5Section::Hdf5Section() : lock_(hdf5_mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Section::~Hdf5Section() {
    H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

namespace {

herr_t keep_description(unsigned, const H5E_error2_t* error, void* text) {
    *static_cast<std::string*>(text) = error->desc == nullptr ? "" : error->desc;
    return 1;  // the first in this direction is the innermost
}

Hdf5Handle half_type() {
    Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    // IEEE 754 binary16: sign in bit 15, 5 bits of exponent from bit 10, 10 bits of mantissa.
    check_hdf5(H5Tset_fields(type.id(), 15, 10, 5, 0, 10), "half precision");
    check_hdf5(H5Tset_size(type.id(), 2), "half precision");
    check_hdf5(H5Tset_ebias(type.id(), 15), "half precision");
    return type;
}

hid_t standard_type(DataType type) {
    switch (type) {
        case DataType::float32:
            return H5T_IEEE_F32LE;
        case DataType::float64:
            return H5T_IEEE_F64LE;
        case DataType::int8:
            return H5T_STD_I8LE;
        case DataType::int16:
            return H5T_STD_I16LE;
        case DataType::int32:
            return H5T_STD_I32LE;
        case DataType::int64:
            return H5T_STD_I64LE;
        case DataType::float16:
        case DataType::bfloat16:
            return H5T_STD_U16LE;
        case DataType::uint8:
        case DataType::boolean:
            break;
    }
    return H5T_STD_U8LE;
}

}  // namespace

hid_t check_hdf5(hid_t id, const std::string& what, ExitCode code) {
    if (id < 0) {
        std::string reason;
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, &reason);
        throw Error(code, what + ": " + (reason.empty() ? "HDF5 refused" : reason));
    }
    return id;
}

Hdf5Handle file_type(DataType type) {
    if (type == DataType::float16) {
        return half_type();
    }
    return Hdf5Handle(check_hdf5(H5Tcopy(standard_type(type)), "copying a type"), H5Tclose);
}

}  // namespace mastic::checkpoint
