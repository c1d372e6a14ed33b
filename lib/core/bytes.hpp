// Sizes in bytes, written by people as "64K", "1.5G" or "4096".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mastic {

struct Bytes {
    std::uint64_t count = 0;
    auto operator<=>(const Bytes&) const = default;
};

// Grammar: digits [ "." digits ] [ "B" | ( K | M | G | T ) [ "B" | "iB" ] ], case-insensitive, binary
// multiples (1K is 1024, so is 1KB), blanks around it ignored. The result must be a whole number of bytes
// below 2^64. Throws Error(usage) quoting the text.
Bytes parse_bytes(std::string_view text);

// The shortest form that parse_bytes reads back to the same value: 65536 -> "64K", 1000 -> "1000".
std::string to_string(Bytes size);

// For people, at most 4 significant characters and a unit: "1.4 GiB", "512 B".
std::string human(Bytes size);

}  // namespace mastic
