// The first bytes on a connection between members: both sides prove that they have the secret of the run.
//
//   caller -> "mastic-e", version, nonce          40 bytes
//   callee -> nonce, HMAC("callee", both nonces)  64 bytes
//   caller -> HMAC("caller", both nonces)         32 bytes
//
// A pure state machine: bytes in, bytes out. The traffic that follows is neither encrypted nor authenticated on its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <mastic/elastic/secret.hpp>

namespace mastic::elastic {

class Handshake {
  public:
    enum class Side { caller, callee };

    Handshake(const Secret& secret, Side side);

    // Takes bytes that came, as many as it needs, and says how many those were.
    std::size_t take(std::span<const std::byte> came);
    // To be sent; empty afterwards.
    std::vector<std::byte> take_output();
    bool complete() const { return phase_ == Phase::complete; }
    // Not of this run, or of another version of the protocol.
    bool refused() const { return phase_ == Phase::refused; }

  private:
    enum class Phase { hello, answer, proof, complete, refused };
    std::size_t wanted() const;
    void advance();
    Mac proof_of(const char* side) const;
    void put(std::span<const std::byte> bytes) { output_.insert(output_.end(), bytes.begin(), bytes.end()); }

    const Secret secret_;
    Phase phase_;
    std::array<std::byte, 32> caller_nonce_{};
    std::array<std::byte, 32> callee_nonce_{};
    std::vector<std::byte> input_;
    std::vector<std::byte> output_;
};

}  // namespace mastic::elastic
