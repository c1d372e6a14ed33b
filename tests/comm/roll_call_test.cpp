#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/roll_call.hpp>

namespace mastic::comm {
namespace {

using Position = RollCall::Position;

constexpr std::uint64_t group = 77;

TEST(NameRanks, IsCompactAndBounded) {
    std::vector<int> many(3000);
    std::iota(many.begin(), many.end(), 0);
    std::vector<int> even;
    for (int rank = 0; rank < 40; rank += 2) {
        even.push_back(rank);
    }
    const std::pair<std::vector<int>, const char*> cases[] = {
        {{3}, "rank 3"},
        {{1, 2, 3, 7}, "ranks 1-3,7"},
        {many, "ranks 0-2999"},
        {even, "ranks 0,2,4,6,8,10,12,14,16,18 and 10 more"},
    };
    for (const auto& [ranks, text] : cases) {
        EXPECT_EQ(name_ranks(ranks), text);
    }
}

// All ranks of a group, by hand: process of rank r is 10 + r.
class RollCallTest : public testing::Test {
  protected:
    RollCallTest() {
        for (int rank = 0; rank < 5; ++rank) {
            calls_.emplace_back(RollMembers{group, rank, {10, 11, 12, 13, 14}});
        }
    }
    // Rank 0 asks, `there` answers (by rank; what is missing does not).
    void ask_and_answer(const Position& here, const std::vector<Position>& there) {
        std::vector<RollLetter> questions;
        calls_[0].ask(here, questions);
        for (const RollLetter& letter : questions) {
            const auto rank = static_cast<std::size_t>(letter.process - 10);
            if (rank < there.size()) {
                std::vector<RollLetter> answers;
                calls_[rank].hear(letter.word, there[rank], answers);
                ASSERT_EQ(answers.size(), 1u);
                EXPECT_EQ(answers[0].process, 10);
                deliver(answers[0].word, here);
            }
        }
    }
    void deliver(const RollWord& answer, const Position& here) {
        std::vector<RollLetter> none;
        calls_[0].hear(answer, here, none);
        EXPECT_TRUE(none.empty()) << "an answer is not answered";
    }
    std::vector<RollLetter> questions(const Position& here) {
        std::vector<RollLetter> out;
        calls_[0].ask(here, out);
        return out;
    }

    std::vector<RollCall> calls_;
    const Position bucket_3{8, "bucket 3", true};
};

TEST_F(RollCallTest, SaysNothingBeforeItHasAsked) {
    EXPECT_EQ(calls_[0].describe(bucket_3), "");
    ask_and_answer(bucket_3, {});
    EXPECT_EQ(calls_[0].describe({9, "bucket 4", true}), "") << "nobody was asked about that";
}

TEST_F(RollCallTest, TellsWhereEachMissingRankIs) {
    ask_and_answer(
        bucket_3,
        {{}, {8, "", false}, {6, "bucket 1", true}, {8, "broadcast", true}, {12, "bucket 7", true}});
    EXPECT_EQ(
        calls_[0].describe(bucket_3),
        "missing in 'bucket 3': rank 3 (in 'broadcast' instead), rank 1 (not started), rank 2 (still in "
        "'bucket 1')");
}

TEST_F(RollCallTest, ARankThatDoesNotAnswerIsNamed) {
    ask_and_answer(bucket_3, {{}, {8, "bucket 3", true}, {9, "", false}});
    EXPECT_EQ(calls_[0].describe(bucket_3),
              "missing in 'bucket 3': ranks 3-4 (no answer: busy, stopped or lost)");
}

TEST_F(RollCallTest, NobodyIsMissingOnceAllHaveCome) {
    ask_and_answer(bucket_3, {{}, {3, "", false}, bucket_3, bucket_3, bucket_3});
    EXPECT_EQ(calls_[0].describe(bucket_3), "missing in 'bucket 3': rank 1 (not started)");
    ask_and_answer(bucket_3, {{}, bucket_3});
    EXPECT_EQ(calls_[0].describe(bucket_3), "all ranks are in 'bucket 3'");
}

TEST_F(RollCallTest, AsksOnlyThoseThatMayBeMissingAndOweNoAnswer) {
    ask_and_answer(bucket_3, {{}, {8, "", false}, bucket_3});  // ranks 3 and 4 are silent
    const auto again = questions(bucket_3);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].process, 11);
    EXPECT_TRUE(questions(bucket_3).empty());
}

TEST_F(RollCallTest, AnAnswerToAnEarlierStallIsNoNews) {
    std::vector<RollLetter> late;
    const auto first = questions({5, "bucket 0", true});
    calls_[1].hear(first[0].word, {5, "", false}, late);
    calls_[2].hear(first[1].word, {20, "", false}, late);
    EXPECT_TRUE(questions(bucket_3).empty()) << "all owe an answer already";
    deliver(late[0].word, bucket_3);
    deliver(late[1].word, bucket_3);
    EXPECT_EQ(calls_[0].describe(bucket_3),
              "missing in 'bucket 3': ranks 1,3-4 (no answer: busy, stopped or lost)")
        << "rank 2 is beyond bucket 3 for sure";
    const auto second = questions(bucket_3);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].process, 11);
}

TEST_F(RollCallTest, AProcessWithoutTheGroupSaysSo) {
    const auto asked = questions(bucket_3);
    const RollLetter answer = not_open_answer(asked[3].word);
    EXPECT_EQ(answer.process, 10);
    deliver(answer.word, bucket_3);
    EXPECT_THAT(calls_[0].describe(bucket_3), testing::HasSubstr("rank 4 (group not open)"));
}

TEST_F(RollCallTest, LongNamesAreCutAlike) {
    const std::string long_name(200, 'x');
    const Position here{8, long_name, true};
    ask_and_answer(here, {{}, here, here, here, here});
    EXPECT_EQ(calls_[0].describe(here), "all ranks are in '" + long_name + "'");
}

}  // namespace
}  // namespace mastic::comm
