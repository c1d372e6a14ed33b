#include <mastic/elastic/handshake.hpp>

#include <algorithm>
#include <utility>

#include <mastic/comm/tcp/hello.hpp>

namespace mastic::elastic {

namespace {

constexpr std::array<char, 8> magic{'m', 'a', 's', 't', 'i', 'c', 'e', '1'};
using Nonce = std::array<std::byte, 32>;

Nonce random_nonce() {
    Nonce nonce{};
    for (std::size_t half = 0; half < 2; ++half) {
        const comm::Token random = comm::random_token();
        std::ranges::copy(random, nonce.begin() + static_cast<std::ptrdiff_t>(half * random.size()));
    }
    return nonce;
}

}  // namespace

Handshake::Handshake(const Secret& secret, Side side)
    : secret_(secret), phase_(side == Side::caller ? Phase::answer : Phase::hello) {
    if (side == Side::caller) {
        caller_nonce_ = random_nonce();
        put(std::as_bytes(std::span(magic)));
        put(caller_nonce_);
    }
}

std::size_t Handshake::wanted() const {
    switch (phase_) {
        case Phase::hello:
            return magic.size() + caller_nonce_.size();
        case Phase::answer:
            return callee_nonce_.size() + sizeof(Mac);
        case Phase::proof:
            return sizeof(Mac);
        case Phase::complete:
        case Phase::refused:
            break;
    }
    return 0;
}

std::size_t Handshake::take(std::span<const std::byte> came) {
    std::size_t taken = 0;
    while (taken < came.size() && wanted() > 0) {
        const std::size_t count = std::min(wanted() - input_.size(), came.size() - taken);
        const auto part = came.subspan(taken, count);
        input_.insert(input_.end(), part.begin(), part.end());
        taken += count;
        if (input_.size() == wanted()) {
            advance();
            input_.clear();
        }
    }
    return taken;
}

void Handshake::advance() {
    const std::span<const std::byte> input(input_);
    switch (phase_) {
        case Phase::hello:
            if (!std::ranges::equal(input.first(magic.size()), std::as_bytes(std::span(magic)))) {
                phase_ = Phase::refused;
                return;
            }
            std::ranges::copy(input.subspan(magic.size()), caller_nonce_.begin());
            callee_nonce_ = random_nonce();
            put(callee_nonce_);
            put(proof_of("callee"));
            phase_ = Phase::proof;
            return;
        case Phase::answer:
            std::ranges::copy(input.first(callee_nonce_.size()), callee_nonce_.begin());
            if (!equal_in_constant_time(input.subspan(callee_nonce_.size()), proof_of("callee"))) {
                phase_ = Phase::refused;
                return;
            }
            put(proof_of("caller"));
            phase_ = Phase::complete;
            return;
        case Phase::proof:
            phase_ = equal_in_constant_time(input, proof_of("caller")) ? Phase::complete : Phase::refused;
            return;
        case Phase::complete:
        case Phase::refused:
            return;
    }
}

Mac Handshake::proof_of(const char* side) const {
    std::vector<std::byte> nonces(caller_nonce_.begin(), caller_nonce_.end());
    nonces.insert(nonces.end(), callee_nonce_.begin(), callee_nonce_.end());
    return authenticate(secret_, side, nonces);
}

std::vector<std::byte> Handshake::take_output() {
    return std::exchange(output_, {});
}

}  // namespace mastic::elastic
