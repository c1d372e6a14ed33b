#include <mastic/data/idx_file.hpp>

#include <array>
#include <optional>

#include <mastic/core/error.hpp>
#include <mastic/data/byte_order.hpp>
#include <mastic/data/content_kind.hpp>
#include <mastic/data/file_content.hpp>

namespace mastic::data {

namespace {

constexpr std::size_t longest_idx_header = 4 + 4 * 255;

struct IdxHeader {
    DataType type = DataType::uint8;
    Shape shape;
    std::size_t bytes = 0;
};

std::optional<DataType> type_of_code(std::byte code) {
    switch (std::to_integer<int>(code)) {
        case 0x08:
            return DataType::uint8;
        case 0x09:
            return DataType::int8;
        case 0x0B:
            return DataType::int16;
        case 0x0C:
            return DataType::int32;
        case 0x0D:
            return DataType::float32;
        case 0x0E:
            return DataType::float64;
        default:
            return std::nullopt;
    }
}

IdxHeader parse_header(std::span<const std::byte> prefix, const std::string& source) {
    if (!is_idx_magic(prefix)) {
        throw Error(ExitCode::data, source + ": no IDX file: the content " + describe_content(prefix),
                    "fetch the file again, or name its true format with --data.format");
    }
    const auto dimensions = std::to_integer<std::size_t>(prefix[3]);
    IdxHeader header{*type_of_code(prefix[2]), {}, 4 + 4 * dimensions};
    if (prefix.size() < header.bytes) {
        throw Error(ExitCode::data, source + ": ends inside the IDX header",
                    "the file is cut: fetch it again");
    }
    for (std::size_t i = 0; i < dimensions; ++i) {
        header.shape.push_back(load_big_endian_32(prefix.data() + 4 + 4 * i));
    }
    return header;
}

}  // namespace

bool is_idx_magic(std::span<const std::byte> first_bytes) {
    return first_bytes.size() >= 4 && first_bytes[0] == std::byte{0} && first_bytes[1] == std::byte{0} &&
           type_of_code(first_bytes[2]).has_value() && first_bytes[3] != std::byte{0};
}

Array read_idx_file(const std::filesystem::path& path) {
    const auto source = path.string();
    const auto header = parse_header(read_prefix(path, longest_idx_header), source);
    const auto element_size = size_of(header.type);
    const auto promised = byte_count(header.shape, element_size, source) + header.bytes;
    const auto content = read_content(path, promised + 1);
    if (content.bytes.size() != promised) {
        const bool more = content.bytes.size() > promised;
        throw Error(
            ExitCode::data,
            source + ": the IDX header promises " + to_string(header.shape) + " " +
                mastic::to_string(header.type) + " (" + std::to_string(promised) +
                " bytes with the header), but " +
                (more ? "there is more data" : "there are only " + std::to_string(content.bytes.size())),
            more ? "the file is damaged: fetch it again" : "the file is cut: fetch it again");
    }
    const auto payload = content.bytes.subspan(header.bytes);
    if (element_size > 1 && std::endian::native == std::endian::little) {
        return make_array(header.type, header.shape, swap_elements(payload, element_size));
    }
    return {header.type, header.shape, payload, content.owner};
}

}  // namespace mastic::data
