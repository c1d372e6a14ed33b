#include <mastic/comm/tcp/subnet.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

// Of the byte number `byte`, the bits that belong to a prefix of `length` bits.
std::byte mask(int length, std::size_t byte) {
    const int bits = std::clamp(length - 8 * static_cast<int>(byte), 0, 8);
    return static_cast<std::byte>(0xff00 >> bits);
}

}  // namespace

Subnet Subnet::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = SocketAddress::parse(std::string(text.substr(0, slash)));
    int length = -1;
    if (slash != std::string_view::npos) {
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, length);
        length = error == std::errc() && rest == end ? length : -1;
    }
    if (!address || length < 0 || static_cast<std::size_t>(length) > 8 * address->bytes().size()) {
        throw Error(ExitCode::usage, "'" + std::string(text) + "' is not a network",
                    "write it like 10.0.0.0/24 or fd00::/64");
    }
    return Subnet(*address, length);
}

bool Subnet::contains(const SocketAddress& address) const {
    const auto ours = address_.bytes();
    const auto theirs = address.bytes();
    if (ours.size() != theirs.size()) {
        return false;
    }
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (((ours[i] ^ theirs[i]) & mask(length_, i)) != std::byte{0}) {
            return false;
        }
    }
    return true;
}

std::string Subnet::to_string() const {
    std::array<std::byte, 16> first{};
    for (std::size_t i = 0; i < address_.bytes().size(); ++i) {
        first[i] = address_.bytes()[i] & mask(length_, i);
    }
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(address_.family(), first.data(), text, sizeof text);
    return text + ("/" + std::to_string(length_));
}

bool Subnet::operator==(const Subnet& other) const {
    return length_ == other.length_ && contains(other.address_);
}

}  // namespace mastic::comm
