// The secret of a run, which its members read from the run directory, and what is proved and derived with it.
//
// It never travels: whoever connects proves by HMAC-SHA-256 (RFC 2104) over fresh random numbers of both sides that it has
// it, and so does the other side, which may be a stranger that has got the port of a member that died.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <mastic/comm/tcp/hello.hpp>

namespace mastic::elastic {

inline constexpr std::size_t secret_bytes = 32;
using Secret = std::array<std::byte, secret_bytes>;
using Mac = std::array<std::byte, 32>;

// DIRECTORY/secret, mode 0600, made by whoever comes first. Throws Error(io), Error(environment) also if others could read it.
Secret create_or_read_secret(const std::filesystem::path& directory);

std::string random_id();  // 16 hexadecimal digits; throws Error(environment)

// `purpose` separates uses: no value of one is of any use in another.
Mac authenticate(const Secret& secret, std::string_view purpose, std::span<const std::byte> message);
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b);
comm::Token derive_token(const Secret& secret, std::string_view purpose);

}  // namespace mastic::elastic
