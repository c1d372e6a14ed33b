#include <mastic/schedule/manager/node_watch.hpp>

#include <gmock/gmock.h>

#include <mastic/schedule/slurm_poller.hpp>

#include "schedule/manager/fake_slurm.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Nodes : public testing::Test {
  protected:
    NodeWatch::Change look(double now_s) {
        return watch.update(ask_slurm(slurm.runner(), {}), own, "", now_s);
    }

    test::TempDir directory;
    test::FakeSlurm slurm{3, directory.path()};
    NodeWatch watch;
    NodeWatch::OwnJobs own;
};

TEST_F(Nodes, AreWantedByJobsThatMayStartAtAnyMomentAndNotForEver) {
    slurm.waiting["801"] = 3;
    look(100);
    EXPECT_TRUE(watch.nodes().at("n1").wanted);
    EXPECT_TRUE(watch.nodes().at("n2").wanted);
    EXPECT_TRUE(watch.nodes().at("n3").wanted);
    look(161);
    EXPECT_FALSE(watch.nodes().at("n1").wanted) << "it waits for something that is not seen";
    slurm.waiting["802"] = 1;
    look(162);
    EXPECT_TRUE(watch.nodes().at("n1").wanted) << "the next one is believed";
    EXPECT_FALSE(watch.nodes().at("n2").wanted);
    watch.others_may_start(163);
    look(163);
    EXPECT_FALSE(watch.nodes().at("n2").wanted) << "too soon to believe it again";
    slurm.take("n2");
    look(170);  // not enough nodes for it now
    slurm.give_back("n2");
    look(180);
    EXPECT_FALSE(watch.nodes().at("n2").wanted) << "it is no other job for that";
    watch.others_may_start(400);
    look(400);
    EXPECT_TRUE(watch.nodes().at("n2").wanted);
    look(461);
    EXPECT_FALSE(watch.nodes().at("n2").wanted);
}

TEST_F(Nodes, AreWantedAgainByAJobThatCouldNotStartForAWhile) {
    slurm.waiting["830"] = 3;
    look(100);
    look(161);
    EXPECT_FALSE(watch.nodes().at("n3").wanted);
    slurm.take("n2");
    look(170);
    look(240);
    slurm.give_back("n2");
    look(250);
    EXPECT_TRUE(watch.nodes().at("n3").wanted);
}

TEST_F(Nodes, AreNotWantedByAStreamOfJobsThatNeverStart) {
    for (int i = 0; i < 10; ++i) {
        slurm.waiting[std::to_string(810 + i)] = 3;
        look(100 + 20 * i);
        EXPECT_EQ(watch.nodes().at("n3").wanted, i < 3) << i;
    }
    slurm.waiting.erase("810");  // one has started, or was withdrawn
    look(320);
    EXPECT_TRUE(watch.nodes().at("n3").wanted) << "the others may start then";
}

TEST_F(Nodes, ThatSlurmKeepsForAJobThatDoesNotStartAreTriedNowAndThen) {
    slurm.set_state("n1", "planned");
    look(100);
    EXPECT_FALSE(watch.nodes().at("n1").kept);
    look(144);
    EXPECT_FALSE(watch.nodes().at("n1").kept);
    look(145);
    EXPECT_TRUE(watch.nodes().at("n1").kept);
    EXPECT_FALSE(watch.nodes().at("n2").kept);
    look(400);
    EXPECT_FALSE(watch.nodes().at("n1").kept);
    look(450);
    EXPECT_TRUE(watch.nodes().at("n1").kept);
    slurm.set_state("n1", "idle");
    look(460);
    EXPECT_FALSE(watch.nodes().at("n1").kept);
}

TEST_F(Nodes, AreUsableFromTheViewOnThatShowsThemIdle) {
    slurm.take("n2");
    EXPECT_THAT(look(100).idle, ElementsAre("n1", "n3"));
    slurm.give_back("n2");
    EXPECT_THAT(look(200).idle, ElementsAre("n2"));
    EXPECT_EQ(watch.nodes().at("n1").since_s, 100);
    EXPECT_EQ(watch.nodes().at("n2").since_s, 200) << "of another cohort";
    slurm.take("n1");
    const NodeWatch::Change change = look(300);
    EXPECT_THAT(change.taken, ElementsAre("n1"));
    EXPECT_THAT(change.idle, IsEmpty());
}

TEST_F(Nodes, ThatWereTakenTeachHowLongOthersStay) {
    EXPECT_EQ(watch.residual_life_s(0), 0) << "no nodes";
    look(0);
    EXPECT_EQ(watch.residual_life_s(0), 600) << "nothing is known yet";
    slurm.take("n1");
    look(1000);
    EXPECT_LT(watch.residual_life_s(1000), 1100);
    EXPECT_GT(watch.residual_life_s(1000), 900) << "older than all that is known: as long again";
}

TEST_F(Nodes, OfAnEarlierManagerKeepTheirAge) {
    watch.was_idle("n1", 50);
    watch.was_idle("n2", 60);
    watch.was_taken("n2", 90);
    EXPECT_THAT(look(100).idle, ElementsAre("n2", "n3"));
    EXPECT_EQ(watch.nodes().at("n1").since_s, 50);
}

TEST_F(Nodes, LeaveATraceToLearnFrom) {
    look(100);
    slurm.take("n2");
    look(150);
    slurm.give_back("n2");
    look(170);
    const IdleTrace trace = watch.trace(100, 200);
    EXPECT_EQ(trace.nodes, 3);
    EXPECT_EQ(trace.end, 100);
    EXPECT_DOUBLE_EQ(trace.idle_node_seconds(), 100 + 50 + 30 + 100);
}

}  // namespace
}  // namespace mastic::schedule
