#include <mastic/schedule/manager/spare_nodes.hpp>

#include <gmock/gmock.h>

namespace mastic::schedule {
namespace {

// Idle nodes on all of which a pilot could be started, and those that pilots have.
NodesNow nodes(int idle, int held, int leaving = 0) {
    return {.startable = idle, .idle = idle, .leaving = leaving, .held = held};
}

TEST(SpareNodes, AreNotWantedByDefault) {
    SpareNodes spare(0);
    EXPECT_EQ(spare.share(nodes(5, 2), 0).pilots, 5);
    EXPECT_EQ(spare.share(nodes(5, 2), 0).limit, "");
    EXPECT_EQ(spare.share(nodes(0, 2), 100).pilots, 0);
}

TEST(SpareNodes, AreTheLastIdleOnes) {
    SpareNodes spare(2);
    EXPECT_EQ(spare.share(nodes(5, 0), 0).pilots, 3);
    EXPECT_EQ(spare.share(nodes(5, 0), 0).limit, "serve.spare: 2 nodes stay idle for others");
    EXPECT_EQ(spare.share(nodes(2, 3), 0).pilots, 0);
    EXPECT_EQ(spare.spare(nodes(5, 0)), 2);
    EXPECT_EQ(spare.spare(nodes(1, 0)), 1);
}

TEST(SpareNodes, ThatStayFreeAnywayCount) {
    SpareNodes spare(2);
    const SpareNodes::Share share = spare.share({.startable = 3, .idle = 5, .leaving = 0, .held = 0}, 0);
    EXPECT_EQ(share.pilots, 3);
    EXPECT_EQ(share.limit, "") << "they keep nothing back";
}

TEST(SpareNodes, OnesThatAreIdleSoonAreNotYet) {
    SpareNodes spare(1);
    EXPECT_EQ(spare.share(nodes(1, 2, 2), 0).pilots, 0);
    EXPECT_EQ(spare.share(nodes(2, 2, 1), 10).pilots, 1);
}

TEST(SpareNodes, AreGivenBackWhenTheyHaveBeenMissingForAWhile) {
    SpareNodes spare(2);
    EXPECT_EQ(spare.share(nodes(1, 5), 0).pilots, 0);
    EXPECT_EQ(spare.share(nodes(0, 5), 20).pilots, 0);
    const SpareNodes::Share late = spare.share(nodes(0, 5), 30);
    EXPECT_EQ(late.pilots, -2);
    EXPECT_EQ(late.limit, "serve.spare: others use nodes that shall stay idle");
    EXPECT_EQ(spare.share(nodes(0, 3, 2), 40).pilots, 0) << "those that leave will do";
    EXPECT_EQ(spare.share(nodes(2, 3), 100).pilots, 0);
}

TEST(SpareNodes, ThatAreUsedForAMomentAreNotGivenBack) {
    SpareNodes spare(1);
    for (double now_s = 0; now_s < 3600; now_s += 40) {
        EXPECT_EQ(spare.share(nodes(0, 3), now_s).pilots, 0);
        EXPECT_EQ(spare.share(nodes(0, 3), now_s + 20).pilots, 0);
        EXPECT_EQ(spare.share(nodes(1, 3), now_s + 30).pilots, 0);
    }
}

TEST(SpareNodes, WhatWasGivenBackIsNotTakenAgainForAWhile) {
    SpareNodes spare(1);
    spare.share(nodes(0, 3), 0);
    EXPECT_EQ(spare.share(nodes(0, 3), 30).pilots, -1);
    EXPECT_EQ(spare.share(nodes(2, 2), 100).pilots, 0) << "the job that had used it is over";
    EXPECT_EQ(spare.share(nodes(1, 2), 200).pilots, 0) << "and the next one is there";
    EXPECT_EQ(spare.share(nodes(3, 2), 200).pilots, 1) << "what is above that may be taken";
    EXPECT_EQ(spare.share(nodes(2, 2), 330).pilots, 1);
}

TEST(SpareNodes, AfterManyWereUsedTheyAreNotAllKept) {
    SpareNodes spare(2);
    for (double now_s = 0; now_s < 300; now_s += 10) {
        spare.share(nodes(0, 40), now_s);
    }
    EXPECT_EQ(spare.share(nodes(20, 10), 300).pilots, 16);
}

TEST(SpareNodes, AreNotGivenBackByNobody) {
    SpareNodes spare(4);
    spare.share(nodes(0, 0), 0);
    EXPECT_EQ(spare.share(nodes(0, 0), 100).pilots, 0);
    EXPECT_EQ(spare.share(nodes(0, 1), 200).pilots, 0);
    EXPECT_EQ(spare.share(nodes(0, 1), 230).pilots, -1) << "no more than there are";
}

}  // namespace
}  // namespace mastic::schedule
