#include <mastic/comm/tcp/hello.hpp>

#include <cerrno>
#include <cstring>
#include <type_traits>

#include <sys/random.h>

#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

// As it travels. All ranks run one program on machines of one byte order.
struct Layout {
    std::array<char, 8> magic{'m', 'a', 's', 't', 'i', 'c', 't', 'p'};
    std::uint32_t version = 1;
    std::uint32_t unused = 0;
    Token token{};
    Hello hello{};
};
static_assert(sizeof(Layout) == hello_bytes && std::is_trivially_copyable_v<Layout>);

bool equal_in_constant_time(const Token& a, const Token& b) {
    volatile unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference = difference | std::to_integer<unsigned>(a[i] ^ b[i]);
    }
    return difference == 0;
}

}  // namespace

Token random_token() {
    Token token{};
    // Up to 256 bytes come whole, unless a signal comes before the kernel's generator is ready.
    while (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
        if (errno != EINTR) {
            throw Error(ExitCode::environment, std::string("getrandom failed: ") + std::strerror(errno));
        }
    }
    return token;
}

std::string pack(const Token& token) {
    return {reinterpret_cast<const char*>(token.data()), token.size()};
}

Token unpack_token(const std::string& text) {
    Token token{};
    if (text.size() != token.size()) {
        throw Error(ExitCode::collective,
                    "the token of the group has " + std::to_string(text.size()) + " bytes",
                    "all ranks must run the same version of the program");
    }
    std::memcpy(token.data(), text.data(), token.size());
    return token;
}

HelloBytes encode_hello(const Hello& hello, const Token& token) {
    Layout layout;
    layout.token = token;
    layout.hello = hello;
    HelloBytes bytes;
    std::memcpy(bytes.data(), &layout, bytes.size());
    return bytes;
}

std::optional<Hello> decode_hello(std::span<const std::byte, hello_bytes> bytes, const Token& token) {
    const Layout expected;
    Layout layout;
    std::memcpy(static_cast<void*>(&layout), bytes.data(), bytes.size());
    const bool authentic = equal_in_constant_time(layout.token, token);
    return authentic && layout.magic == expected.magic && layout.version == expected.version
               ? std::optional(layout.hello)
               : std::nullopt;
}

}  // namespace mastic::comm
