// Not every HDF5 library is built thread-safe, and a checkpoint is encoded while data may be read: each call
// into HDF5 anywhere in mastic holds this lock. Hold it for one data set at a time, not for a whole file.
#pragma once

#include <mutex>

namespace mastic {

inline std::recursive_mutex& hdf5_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace mastic
