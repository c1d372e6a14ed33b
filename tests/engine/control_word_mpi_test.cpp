#include <gtest/gtest.h>

#include <cmath>

#include <mastic/engine/control_word.hpp>

#include "comm/mpi/session_fixture.hpp"

namespace mastic::engine {
namespace {

class Control : public testing::Test {
  protected:
    std::unique_ptr<comm::Group> group = test::session().make_group({});
    ControlWord word{*group};
    const int last = group->size() - 1;
    StepAgreement agree(const StepFacts& facts) {
        word.start(facts);
        return word.finish();
    }
};

TEST_F(Control, AddsUpLossesAndFinishedShards) {
    StepFacts facts;
    facts.loss_sum = group->rank() + 1;
    facts.shard_finished = true;
    const StepAgreement agreed = agree(facts);
    EXPECT_EQ(agreed.loss, group->size() * (group->size() + 1) / 2.0);
    EXPECT_EQ(agreed.shards_finished, group->size());
    EXPECT_EQ(agreed.non_finite_ranks, 0);
    EXPECT_EQ(agreed.stop, job::StopReason::none);
    EXPECT_FALSE(agreed.checkpoint);
}

TEST_F(Control, OneRanksWishIsEverybodys) {
    StepFacts facts;
    facts.checkpoint = group->rank() == last;
    facts.stop = group->rank() == last ? job::StopReason::terminate : job::StopReason::none;
    const StepAgreement agreed = agree(facts);
    EXPECT_TRUE(agreed.checkpoint);
    EXPECT_EQ(agreed.stop, job::StopReason::terminate);
}

TEST_F(Control, NamesTheRankThatIsNotFinite) {
    StepFacts facts;
    facts.loss_sum = group->rank() == last ? std::nan("") : 1.0;
    facts.non_finite = group->rank() == last;
    const StepAgreement agreed = agree(facts);
    EXPECT_EQ(agreed.non_finite_ranks, 1);
    EXPECT_EQ(agreed.non_finite_rank, last);
    EXPECT_TRUE(std::isfinite(agreed.loss));
}

}  // namespace
}  // namespace mastic::engine
