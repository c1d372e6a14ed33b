#include <mastic/report/utf8.hpp>

#include <cstdint>

namespace mastic::report {
namespace {

// Bytes of the sequence at the start of `text`, 0 if it is not valid (overlong, surrogate, above U+10FFFF,
// torn).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool outside = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
    return overlong || outside ? 0 : length;
}

bool is_control(char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F;
}

}  // namespace

std::size_t character_count(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) {
        const std::size_t length = sequence_length(text);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return count;
}

std::string valid_utf8(std::string_view text) {
    std::string clean;
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0 || is_control(text[0])) {
            clean += "\uFFFD";
        } else {
            clean += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return clean;
}

std::string shortened(std::string_view text, std::size_t characters) {
    if (character_count(text) <= characters) {
        return std::string(text);
    }
    if (characters == 0) {
        return "";
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < characters; ++i) {
        const std::size_t length = sequence_length(text.substr(kept));
        kept += length == 0 ? 1 : length;
    }
    return std::string(text.substr(0, kept)) + "…";
}

}  // namespace mastic::report
