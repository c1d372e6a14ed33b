#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/tuning/verification.hpp>

namespace mastic::tuning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(HeldOutSizes, AreInTheMiddleAndNeverMeasured) {
    EXPECT_THAT(held_out_sizes(std::vector<Bytes>{Bytes{64}, Bytes{256}, Bytes{1024}}),
                ElementsAre(Bytes{128}, Bytes{512}));
    EXPECT_THAT(held_out_sizes(std::vector<Bytes>{Bytes{64}, Bytes{68}}), ElementsAre());
    EXPECT_THAT(held_out_sizes(std::vector<Bytes>{Bytes{64}}), ElementsAre());
}

TEST(RatioOf, IsTakenInsideEachRepetition) {
    // The machine doubles all times half way: the ratio does not see it.
    const Ratio ratio = ratio_of({11, 11, 22, 22}, {10, 10, 20, 20});
    EXPECT_DOUBLE_EQ(ratio.median, 1.1);
    EXPECT_DOUBLE_EQ(ratio.q1, 1.1);
    EXPECT_EQ(to_string(ratio), "1.10 (1.10 to 1.10)");
}

TEST(Finding, HoldsUnlessTheLowerQuartileIsBeyondTheLimit) {
    Finding finding;
    EXPECT_TRUE(finding.holds());
    finding.to_best = {1.2, 1.04, 1.3};
    EXPECT_TRUE(finding.holds());
    finding.to_best = {1.2, 1.06, 1.3};
    EXPECT_FALSE(finding.holds());
    finding.to_best = {};
    finding.to_default = {1.05, 1.03, 1.1};
    EXPECT_FALSE(finding.holds());
}

TEST(FindingsText, ShowsRatiosAndWhatIsSlower) {
    const comm::Choice ring{.transport = comm::TransportKind::mpi, .algorithm = "ring"};
    const Finding good{comm::Collective::allreduce, Bytes{512}, ring, ring, {}, {0.5, 0.4, 0.6}};
    Finding bad = good;
    bad.to_default = {2, 1.9, 2.1};
    const std::string text = findings_text(std::vector<Finding>{good, bad});
    EXPECT_THAT(text, HasSubstr("0.50 (0.40 to 0.60)"));
    EXPECT_THAT(text, HasSubstr("the choice"));
    EXPECT_THAT(text, HasSubstr("SLOWER"));
}

TEST(LibraryDefault, IsTheWholeBufferInOneCall) {
    EXPECT_EQ(library_default(comm::Collective::allreduce, Bytes{1 << 20}).algorithm, "native-blocking");
    EXPECT_EQ(library_default(comm::Collective::broadcast, Bytes{8u << 20}).segment, Bytes{8u << 20});
}

}  // namespace
}  // namespace mastic::tuning
