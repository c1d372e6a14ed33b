// What a file really holds, judged by its first bytes and never by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mastic::data {

enum class ContentKind { empty, idx, npy, hdf5, gzip, zip, web_page, git_lfs_pointer, text, binary };

// The first 512 bytes are enough; fewer are allowed.
ContentKind kind_of(std::span<const std::byte> first_bytes);

// For error messages, a predicate: "starts with '<!DOCTYPE html>': looks like a web page".
std::string describe_content(std::span<const std::byte> first_bytes);

}  // namespace mastic::data
