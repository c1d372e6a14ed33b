#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/fingerprint.hpp>

namespace mastic::comm {
namespace {

const OperationFingerprint reference{"layer1.weight", 1000, DataType::float32, ReduceOp::average};

TEST(Fingerprint, TextNamesEverythingThatCounts) {
    EXPECT_THAT(to_string(reference),
                testing::MatchesRegex("layer1.weight: average of 1000 x float32 \\[[0-9a-f]{16}\\]"));
}

TEST(Fingerprint, HashDependsOnEachFieldAndOnTheOrder) {
    std::set<std::uint64_t> hashes{hash_of(reference)};
    auto other = reference;
    other.name = "layer2.weight";
    hashes.insert(hash_of(other));
    other = reference;
    other.count = 1001;
    hashes.insert(hash_of(other));
    other = reference;
    other.type = DataType::bfloat16;
    hashes.insert(hash_of(other));
    other = reference;
    other.op = ReduceOp::sum;
    hashes.insert(hash_of(other));
    EXPECT_EQ(hashes.size(), 5u);

    const OperationFingerprint forward[] = {reference, other};
    const OperationFingerprint backward[] = {other, reference};
    EXPECT_NE(hash_of(std::span(forward)), hash_of(std::span(backward)));
    EXPECT_NE(hash_of(std::span(forward)), hash_of(std::span(forward, 1)));
}

TEST(Disagreement, IsEmptyIfThereIsNone) {
    EXPECT_EQ(describe_disagreement({{"a", "b"}, {"a", "b"}}), "");
    EXPECT_EQ(describe_disagreement({}), "");
}

TEST(Disagreement, NamesTheRankThatDiffersFromTheMajorityAtTheFirstDifference) {
    EXPECT_EQ(describe_disagreement({{"a", "b", "c"}, {"a", "b", "c"}, {"a", "x", "y"}}),
              "rank 2 disagrees on operation 1 of 3\n  rank 2: x\n  rank 0: b");
    EXPECT_EQ(describe_disagreement({{"x"}, {"a"}, {"a"}}),
              "rank 0 disagrees on operation 0 of 1\n  rank 0: x\n  rank 1: a");
    EXPECT_EQ(
        describe_disagreement({{"a"}, {"a", "b"}}),
        "rank 1 disagrees on operation 1 of 2\n  rank 1: b\n  rank 0: no operation, its list ends after 1");
}

}  // namespace
}  // namespace mastic::comm
