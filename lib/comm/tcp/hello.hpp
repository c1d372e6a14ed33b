// The first bytes on a connection, from the side that connects: who it is, and the secret of the group that proves it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mastic::comm {

inline constexpr std::size_t token_bytes = 16;
using Token = std::array<std::byte, token_bytes>;

Token random_token();  // throws Error(environment)
// As text that travels between ranks; the second throws Error(collective) for anything else than the first gives.
std::string pack(const Token& token);
Token unpack_token(const std::string& text);

struct Hello {
    std::int32_t rank = 0;
    std::int32_t lane = 0;
};

inline constexpr std::size_t hello_bytes = 40;
using HelloBytes = std::array<std::byte, hello_bytes>;

HelloBytes encode_hello(const Hello& hello, const Token& token);
// Nothing if the bytes are not those of a rank of this group. Takes the same time for every wrong token.
std::optional<Hello> decode_hello(std::span<const std::byte, hello_bytes> bytes, const Token& token);

}  // namespace mastic::comm
