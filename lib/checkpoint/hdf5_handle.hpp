// Internal to lib/checkpoint: owners of HDF5 identifiers, and errors as exceptions. Includes hdf5.h: for .cpp
// files only.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include <mastic/core/data_type.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {

class Hdf5Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Hdf5Handle() = default;
    Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Hdf5Handle() {
        if (id_ >= 0) {
            close_(id_);
        }
    }
    hid_t id() const { return id_; }

  private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

// Holds mastic's HDF5 lock and keeps HDF5 from printing its error stack.
class Hdf5Section {
  public:
    Hdf5Section();
    ~Hdf5Section();
    Hdf5Section(const Hdf5Section&) = delete;
    Hdf5Section& operator=(const Hdf5Section&) = delete;

  private:
    std::unique_lock<std::recursive_mutex> lock_;
    H5E_auto2_t print_ = nullptr;
    void* print_data_ = nullptr;
};

// Throws Error(`code`) "WHAT: the innermost HDF5 error" if `id` is negative.
hid_t check_hdf5(hid_t id, const std::string& what, ExitCode code = ExitCode::checkpoint);

// The type in the file. The caller owns it.
Hdf5Handle file_type(DataType type);

}  // namespace mastic::checkpoint
