// NumPy's .npy files, versions 1 to 3. Source: NEP 1 and numpy.lib.format: magic, version, length of the
// header, the header (a Python dictionary with descr, fortran_order, shape), then the elements.
#pragma once

#include <filesystem>

#include <mastic/data/array.hpp>

namespace mastic::data {

// Reads f2 f4 f8 i1-i8 u1-u8 and bool of either byte order, C or Fortran order; the result is row-major and
// native. u2 becomes int32, u4 and u8 become int64 (an u8 above 2^63 - 1 is an error). Object, string and
// structured arrays are refused. Errors are Error(data).
Array read_npy_file(const std::filesystem::path& path);

}  // namespace mastic::data
