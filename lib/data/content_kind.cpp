#include <mastic/data/content_kind.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>

#include <mastic/data/idx_file.hpp>

namespace mastic::data {

namespace {

constexpr std::size_t inspected_bytes = 512;

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), inspected_bytes)};
}

std::string_view without_bom(std::string_view text) {
    return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

bool is_web_page(std::string_view text) {
    std::string start;
    for (const char c : without_bom(text).substr(0, 64)) {
        if (!start.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) {
            start += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head") ||
           start.starts_with("<?xml");
}

bool is_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 32 && c != '\t' && c != '\n' && c != '\r' && c != '\f';
    });
}

std::string first_line(std::string_view text) {
    const auto start = without_bom(text);
    return std::string(start.substr(0, std::min<std::size_t>(start.find_first_of("\r\n"), 24)));
}

std::string first_bytes_in_hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const auto byte : bytes.first(std::min<std::size_t>(bytes.size(), 8))) {
        char digits[4];
        std::snprintf(digits, sizeof digits, " %02x", std::to_integer<unsigned>(byte));
        text += digits;
    }
    return text;
}

}  // namespace

ContentKind kind_of(std::span<const std::byte> first_bytes) {
    using namespace std::string_view_literals;
    const auto text = text_of(first_bytes);
    if (text.empty()) {
        return ContentKind::empty;
    }
    if (text.starts_with("\x1F\x8B"sv)) {
        return ContentKind::gzip;
    }
    if (text.starts_with("\x93NUMPY"sv)) {
        return ContentKind::npy;
    }
    if (text.starts_with("\x89HDF\r\n\x1A\n"sv)) {
        return ContentKind::hdf5;
    }
    if (text.starts_with("PK\x03\x04"sv)) {
        return ContentKind::zip;
    }
    if (is_idx_magic(first_bytes)) {
        return ContentKind::idx;
    }
    if (is_web_page(text)) {
        return ContentKind::web_page;
    }
    if (text.starts_with("version https://git-lfs"sv)) {
        return ContentKind::git_lfs_pointer;
    }
    return is_text(text) ? ContentKind::text : ContentKind::binary;
}

std::string describe_content(std::span<const std::byte> first_bytes) {
    const auto line = first_line(text_of(first_bytes));
    switch (kind_of(first_bytes)) {
        case ContentKind::empty:
            return "is empty";
        case ContentKind::idx:
            return "looks like an IDX file";
        case ContentKind::npy:
            return "looks like a NumPy .npy file";
        case ContentKind::hdf5:
            return "looks like an HDF5 file";
        case ContentKind::gzip:
            return "looks like gzip data";
        case ContentKind::zip:
            return "looks like a ZIP archive (a .npz file is one)";
        case ContentKind::web_page:
            return "starts with '" + line + "': looks like a web page";
        case ContentKind::git_lfs_pointer:
            return "starts with '" + line + "': looks like a Git LFS pointer";
        case ContentKind::text:
            return "starts with '" + line + "': looks like text";
        case ContentKind::binary:
            break;
    }
    return "starts with the bytes" + first_bytes_in_hex(first_bytes) + ": not a known format";
}

}  // namespace mastic::data
