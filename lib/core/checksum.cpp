#include <mastic/core/checksum.hpp>

#include <array>
#include <cstdio>
#include <new>

#include <xxhash.h>

namespace mastic {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string to_hex(std::uint64_t checksum) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(checksum));
    return text.data();
}

struct RunningChecksum::State {
    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Free> xxh3{XXH3_createState()};
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
    if (!state_->xxh3) {
        throw std::bad_alloc();
    }
    XXH3_64bits_reset(state_->xxh3.get());
}

RunningChecksum::~RunningChecksum() = default;
RunningChecksum::RunningChecksum(RunningChecksum&&) noexcept = default;
RunningChecksum& RunningChecksum::operator=(RunningChecksum&&) noexcept = default;

void RunningChecksum::update(std::span<const std::byte> bytes) {
    XXH3_64bits_update(state_->xxh3.get(), bytes.data(), bytes.size());
}

std::uint64_t RunningChecksum::value() const {
    return XXH3_64bits_digest(state_->xxh3.get());
}

}  // namespace mastic
