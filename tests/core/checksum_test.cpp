#include <mastic/core/checksum.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mastic {
namespace {

std::vector<std::byte> pattern(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(i * 131 + (i >> 8));
    }
    return bytes;
}

TEST(Checksum, IsXxh3OfTheReferenceImplementation) {
    // `xxhsum -H3` of no bytes; a change here would orphan every checkpoint.
    EXPECT_EQ(to_hex(checksum({})), "2d06800538d394c2");
}

TEST(Checksum, DependsOnTheSeed) {
    const auto bytes = pattern(1000);
    EXPECT_NE(checksum(bytes, 0), checksum(bytes, 1));
    EXPECT_EQ(checksum(bytes), checksum(bytes, 0));
}

TEST(Checksum, SeesEveryFlippedBit) {
    auto bytes = pattern(300);
    const auto original = checksum(bytes);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_NE(checksum(bytes), original) << "bit " << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(RunningChecksum, EqualsTheChecksumOfTheWholeWhateverThePieces) {
    const auto bytes = pattern(5000);
    for (const std::size_t piece : {1, 7, 240, 241, 1024, 4999, 5000}) {
        RunningChecksum running;
        for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
            running.update(std::span(bytes).subspan(begin, std::min(piece, bytes.size() - begin)));
        }
        EXPECT_EQ(running.value(), checksum(bytes)) << "pieces of " << piece;
    }
}

TEST(RunningChecksum, GoesOnAfterItWasReadAndMoved) {
    const auto bytes = pattern(512);
    RunningChecksum first;
    first.update(std::span(bytes).first(100));
    EXPECT_EQ(first.value(), checksum(std::span(bytes).first(100)));
    RunningChecksum second = std::move(first);
    second.update(std::span(bytes).subspan(100));
    EXPECT_EQ(second.value(), checksum(bytes));
}

TEST(ToHex, HasSixteenDigits) {
    EXPECT_EQ(to_hex(0), "0000000000000000");
    EXPECT_EQ(to_hex(0xABCDEF), "0000000000abcdef");
    EXPECT_EQ(to_hex(~std::uint64_t{0}), "ffffffffffffffff");
}

}  // namespace
}  // namespace mastic
