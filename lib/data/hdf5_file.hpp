// HDF5 files: one dataset by its path inside the file.
#pragma once

#include <filesystem>
#include <string>

#include <mastic/data/array.hpp>

namespace mastic::data {

// Reads integers and floating-point numbers of any width and byte order. A contiguous dataset of native
// numbers is mapped in place; others (chunked, compressed, foreign) are read into memory. Unsigned 16-bit
// becomes int32, unsigned 32- and 64-bit become int64, half precision becomes float32. Before memory is
// taken, the dataset must be completely written and inside the file; external and virtual storage are
// refused. Error(data); if the name is wrong, it lists the datasets of the file. Not for concurrent use with
// other HDF5 calls unless the library is thread-safe.
Array read_hdf5_dataset(const std::filesystem::path& path, const std::string& name);

}  // namespace mastic::data
