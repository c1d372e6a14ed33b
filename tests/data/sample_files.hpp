// Data files made byte by byte, so that the readers are not tested with their own inverse.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <mastic/data/array.hpp>

namespace mastic::data::test {

// The bytes of numbers in this or the other byte order.
template <class T>
std::string raw(const std::vector<T>& values, bool swapped = false) {
    std::string bytes;
    for (const T value : values) {
        std::string one(sizeof(T), '\0');
        std::memcpy(one.data(), &value, sizeof(T));
        bytes += swapped ? std::string(one.rbegin(), one.rend()) : one;
    }
    return bytes;
}

template <class T>
std::vector<T> values_of(const Array& array) {
    std::vector<T> values(array.bytes.size() / sizeof(T));
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    return values;
}

template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

std::string idx_file(int type_code, const std::vector<std::uint32_t>& shape, const std::string& payload);
// `shape` as Python writes it: "(2, 3)".
std::string npy_file(const std::string& type, const std::string& shape, const std::string& payload,
                     bool fortran_order = false, int version = 1);
std::string gzip(const std::string& content);

// Gives `read` files with many damaged forms of `content` (cut at random, random bits flipped, or both): it must return
// or throw mastic::Error. The test fails for any other exception; a crash fails the program. Returns how many
// were refused.
int feed_damaged(const std::string& content, int count,
                 const std::function<void(const std::filesystem::path&)>& read);

}  // namespace mastic::data::test
