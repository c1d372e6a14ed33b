// The header of a .npy file: the text of a Python dictionary.
#pragma once

#include <string>
#include <string_view>

#include <mastic/data/array.hpp>

namespace mastic::data {

struct NpyHeader {
    char byte_order = '<';  // '<' little, '>' big, '|' does not matter
    char kind = 'f';        // 'f' float, 'i' signed, 'u' unsigned, 'b' bool
    std::size_t element_size = 4;
    bool fortran_order = false;
    Shape shape;
};

// `text` is the dictionary without magic and length. Error(data) names `source` and what could not be
// understood.
NpyHeader parse_npy_header(std::string_view text, const std::string& source);

}  // namespace mastic::data
