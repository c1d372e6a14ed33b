#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/elastic/handshake.hpp>

namespace mastic::elastic {
namespace {

Secret secret_of(char letter) {
    Secret secret{};
    secret.fill(std::byte(letter));
    return secret;
}

// What one side has to say, in pieces of `piece` bytes.
void pass(Handshake& from, Handshake& to, std::size_t piece) {
    const std::vector<std::byte> output = from.take_output();
    for (std::size_t at = 0; at < output.size(); at += piece) {
        const std::span<const std::byte> part(output.data() + at, std::min(piece, output.size() - at));
        EXPECT_EQ(to.take(part), part.size());
    }
}

TEST(Handshake, TwoThatHaveTheSecretBelieveOneAnother) {
    for (const std::size_t piece : {1u, 7u, 1000u}) {
        Handshake caller(secret_of('a'), Handshake::Side::caller);
        Handshake callee(secret_of('a'), Handshake::Side::callee);
        pass(caller, callee, piece);
        pass(callee, caller, piece);
        EXPECT_TRUE(caller.complete());
        EXPECT_FALSE(callee.complete());
        pass(caller, callee, piece);
        EXPECT_TRUE(callee.complete());
    }
}

TEST(Handshake, WhatFollowsIsLeftForOthers) {
    Handshake caller(secret_of('a'), Handshake::Side::caller);
    Handshake callee(secret_of('a'), Handshake::Side::callee);
    pass(caller, callee, 1000);
    pass(callee, caller, 1000);
    std::vector<std::byte> output = caller.take_output();
    const std::size_t proof = output.size();
    output.resize(proof + 5);
    EXPECT_EQ(callee.take(output), proof);
    EXPECT_TRUE(callee.complete());
}

TEST(Handshake, NeitherSideBelievesAnotherSecret) {
    Handshake caller(secret_of('a'), Handshake::Side::caller);
    Handshake callee(secret_of('b'), Handshake::Side::callee);
    pass(caller, callee, 1000);
    pass(callee, caller, 1000);
    EXPECT_TRUE(caller.refused());
    EXPECT_TRUE(caller.take_output().empty());
    // A caller that goes on all the same.
    callee.take(std::array<std::byte, 32>{});
    EXPECT_TRUE(callee.refused());
}

TEST(Handshake, AProofIsOfNoUseASecondTime) {
    Handshake caller(secret_of('a'), Handshake::Side::caller);
    Handshake first(secret_of('a'), Handshake::Side::callee);
    const std::vector<std::byte> hello = caller.take_output();
    first.take(hello);
    pass(first, caller, 1000);
    const std::vector<std::byte> proof = caller.take_output();
    Handshake second(secret_of('a'), Handshake::Side::callee);
    second.take(hello);
    second.take(proof);
    EXPECT_TRUE(second.refused());
}

TEST(Handshake, AnotherProtocolIsRefused) {
    Handshake callee(secret_of('a'), Handshake::Side::callee);
    callee.take(std::vector<std::byte>(40, std::byte('G')));
    EXPECT_TRUE(callee.refused());
    EXPECT_TRUE(callee.take_output().empty());
}

}  // namespace
}  // namespace mastic::elastic
