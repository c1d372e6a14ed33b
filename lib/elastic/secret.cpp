#include <mastic/elastic/secret.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::elastic {

namespace {

namespace fs = std::filesystem;

Secret random_secret() {
    Secret secret{};
    while (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
        if (errno != EINTR) {
            throw Error(ExitCode::environment, std::string("getrandom failed: ") + std::strerror(errno));
        }
    }
    return secret;
}

void require_private(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
        throw_file_error("read", file, errno);
    }
    if ((status.st_mode & 077) != 0 || status.st_uid != ::geteuid()) {
        throw Error(ExitCode::environment, file.string() + " is open to other users, so it is no secret",
                    "chmod 600, and see that it belongs to you");
    }
}

}  // namespace

std::string random_id() {
    const comm::Token token = comm::random_token();
    std::string id;
    for (std::size_t i = 0; i < 8; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(token[i]));
        id += digits;
    }
    return id;
}

Secret create_or_read_secret(const fs::path& directory) {
    const fs::path file = directory / "secret";
    if (!fs::exists(file)) {
        // Linked, so that nobody reads half a secret; whose comes first counts.
        const fs::path draft = file.string() + "." + random_id();  // process numbers repeat on other nodes
        const Secret fresh = random_secret();
        write_file_atomically(draft, std::span<const std::byte>(fresh), 0600);
        const int error = ::link(draft.c_str(), file.c_str()) == 0 ? 0 : errno;
        ::unlink(draft.c_str());
        if (error != 0 && error != EEXIST) {
            throw_file_error("make", file, error);
        }
    }
    require_private(file);
    const std::vector<std::byte> content = read_file(file);
    Secret secret{};
    if (content.size() != secret.size()) {
        throw Error(ExitCode::io,
                    file.string() + " has " + std::to_string(content.size()) + " bytes, not " +
                        std::to_string(secret.size()),
                    "remove it while no member runs");
    }
    std::ranges::copy(content, secret.begin());
    return secret;
}

Mac authenticate(const Secret& secret, std::string_view purpose, std::span<const std::byte> message) {
    std::vector<std::byte> text(purpose.size() + 1);
    std::memcpy(text.data(), purpose.data(), purpose.size());
    text.insert(text.end(), message.begin(), message.end());
    Mac mac{};
    unsigned length = 0;
    if (::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
               reinterpret_cast<const unsigned char*>(text.data()), text.size(),
               reinterpret_cast<unsigned char*>(mac.data()), &length) == nullptr) {
        throw Error(ExitCode::environment, "OpenSSL has no HMAC-SHA-256");
    }
    return mac;
}

bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

comm::Token derive_token(const Secret& secret, std::string_view purpose) {
    const Mac mac = authenticate(secret, purpose, {});
    comm::Token token{};
    std::copy_n(mac.begin(), token.size(), token.begin());
    return token;
}

}  // namespace mastic::elastic
