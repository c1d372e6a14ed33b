#include <mastic/data/npy_file.hpp>

#include <bit>
#include <cstring>
#include <utility>

#include <mastic/core/error.hpp>
#include <mastic/data/byte_order.hpp>
#include <mastic/data/content_kind.hpp>
#include <mastic/data/element.hpp>
#include <mastic/data/file_content.hpp>
#include <mastic/data/npy_header.hpp>

namespace mastic::data {

namespace {

constexpr std::size_t longest_npy_header = 1 << 20;
constexpr std::size_t fixed_part = 12;  // magic, version, and the longer of the two length fields

struct LocatedHeader {
    NpyHeader fields;
    std::size_t bytes = 0;  // where the elements start
};

// Version 1 has a 16-bit length at byte 8, versions 2 and 3 a 32-bit one; both little-endian.
LocatedHeader read_header(const std::filesystem::path& path) {
    const auto source = path.string();
    const auto start = read_prefix(path, fixed_part);
    if (kind_of(start) != ContentKind::npy) {
        throw Error(ExitCode::data,
                    source + ": no .npy file: the content " + describe_content(read_prefix(path, 512)),
                    "fetch the file again, or name its true format with --data.format");
    }
    if (start.size() < fixed_part) {
        throw Error(ExitCode::data, source + ": ends inside the .npy header",
                    "the file is cut: fetch it again");
    }
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(start[i]); };
    const auto version = byte(6);
    if (version < 1 || version > 3) {
        throw Error(ExitCode::data,
                    source + ": is a .npy file of the unknown version " + std::to_string(version),
                    "save it with numpy.save");
    }
    const std::size_t text_start = version == 1 ? 10 : 12;
    const std::size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
    if (length > longest_npy_header) {
        throw Error(ExitCode::data, source + ": its .npy header claims " + std::to_string(length) + " bytes",
                    "the file is damaged: write it again with numpy.save");
    }
    const auto header = read_prefix(path, text_start + length);
    if (header.size() < text_start + length) {
        throw Error(ExitCode::data, source + ": ends inside the .npy header",
                    "the file is cut: fetch it again");
    }
    const std::string_view text(reinterpret_cast<const char*>(header.data()) + text_start, length);
    return {parse_npy_header(text, source), text_start + length};
}

FileContent read_payload(const std::filesystem::path& path, const LocatedHeader& header) {
    const auto source = path.string();
    const auto& shape = header.fields.shape;
    const auto promised = byte_count(shape, header.fields.element_size, source) + header.bytes;
    auto content = read_content(path, promised + 1);
    if (content.bytes.size() != promised) {
        const bool more = content.bytes.size() > promised;
        throw Error(
            ExitCode::data,
            source + ": the .npy header promises " + to_string(shape) + " elements (" +
                std::to_string(promised) + " bytes with the header), but " +
                (more ? "there is more data" : "there are only " + std::to_string(content.bytes.size())),
            more ? "the file is damaged: fetch it again" : "the file is cut: fetch it again");
    }
    content.bytes = content.bytes.subspan(header.bytes);
    return content;
}

// From Fortran order (first index fastest) to C order (last index fastest).
std::vector<std::byte> to_row_major(std::span<const std::byte> bytes, const Shape& shape,
                                    std::size_t element_size) {
    std::vector<std::byte> result(bytes.size());
    std::vector<std::size_t> stride(shape.size(), 1);
    for (std::size_t d = 1; d < shape.size(); ++d) {
        stride[d] = stride[d - 1] * static_cast<std::size_t>(shape[d - 1]);
    }
    std::vector<std::int64_t> index(shape.size(), 0);
    std::size_t from = 0;
    for (std::size_t to = 0; to < bytes.size(); to += element_size) {
        std::memcpy(result.data() + to, bytes.data() + from * element_size, element_size);
        for (std::size_t d = shape.size(); d-- > 0;) {
            from += stride[d];
            if (++index[d] < shape[d]) {
                break;
            }
            from -= stride[d] * static_cast<std::size_t>(shape[d]);
            index[d] = 0;
        }
    }
    return result;
}

template <class From, class To>
std::vector<std::byte> widen(std::span<const std::byte> bytes, const std::string& source) {
    const std::size_t count = bytes.size() / sizeof(From);
    std::vector<std::byte> result(count * sizeof(To));
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = load_element<From>(bytes.data(), i);
        if (!std::in_range<To>(value)) {
            throw Error(ExitCode::data, source + ": element " + std::to_string(i) + " (" +
                                            std::to_string(value) + ") does not fit into 64 bits with sign");
        }
        const auto wide = static_cast<To>(value);
        std::memcpy(result.data() + i * sizeof(To), &wide, sizeof(To));
    }
    return result;
}

DataType element_type(const NpyHeader& header) {
    const auto size = header.element_size;
    if (header.kind == 'b') {
        return DataType::boolean;
    }
    if (header.kind == 'f') {
        return size == 2 ? DataType::float16 : size == 4 ? DataType::float32 : DataType::float64;
    }
    if (header.kind == 'u') {
        return size == 1 ? DataType::uint8 : size == 2 ? DataType::int32 : DataType::int64;
    }
    return size == 1   ? DataType::int8
           : size == 2 ? DataType::int16
           : size == 4 ? DataType::int32
                       : DataType::int64;
}

bool has_foreign_order(const NpyHeader& header) {
    const char foreign = std::endian::native == std::endian::little ? '>' : '<';
    return header.element_size > 1 && header.byte_order == foreign;
}

void use_copy(FileContent& content, std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    content = {std::span(*owner), owner};
}

void widen_unsigned(FileContent& content, const NpyHeader& header, const std::string& source) {
    if (header.kind != 'u' || header.element_size == 1) {
        return;
    }
    switch (header.element_size) {
        case 2:
            return use_copy(content, widen<std::uint16_t, std::int32_t>(content.bytes, source));
        case 4:
            return use_copy(content, widen<std::uint32_t, std::int64_t>(content.bytes, source));
        default:
            return use_copy(content, widen<std::uint64_t, std::int64_t>(content.bytes, source));
    }
}

}  // namespace

Array read_npy_file(const std::filesystem::path& path) {
    const auto header = read_header(path);
    const auto& fields = header.fields;
    auto content = read_payload(path, header);
    if (has_foreign_order(fields)) {
        use_copy(content, swap_elements(content.bytes, fields.element_size));
    }
    if (fields.fortran_order && fields.shape.size() > 1) {
        use_copy(content, to_row_major(content.bytes, fields.shape, fields.element_size));
    }
    widen_unsigned(content, fields, path.string());
    return {element_type(fields), fields.shape, content.bytes, content.owner};
}

}  // namespace mastic::data
