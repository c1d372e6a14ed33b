#include <mastic/schedule/job_profile.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <mastic/core/random.hpp>

namespace mastic::schedule {
namespace {

double amdahl(int nodes) {
    return nodes / (1 + 0.02 * (nodes - 1));
}

TEST(JobProfile, LearnsACurveFromAFewSizes) {
    JobProfile profile(CurvePrior::uninformed(64));
    const double before = profile.relative_error(64);
    for (const int nodes : {1, 4, 16, 64}) {
        profile.observe(nodes, 500 * amdahl(nodes), 0.01);
    }
    EXPECT_LT(profile.relative_error(64), 0.1 * before);
    for (const int nodes : {2, 3, 8, 24, 32, 48, 64}) {
        EXPECT_NEAR(profile.speed_up().at(nodes) / amdahl(nodes), 1, 0.06) << nodes;
    }
}

// The unit does not matter, and one size alone says nothing about the others.
TEST(JobProfile, OneSizeLeavesTheShapeAsItWas) {
    JobProfile profile(CurvePrior::uninformed(32));
    const ThroughputCurve before = profile.speed_up();
    const double error = profile.relative_error(32);
    profile.observe(1, 123, 0.01);
    EXPECT_NEAR(profile.speed_up().at(32), before.at(32), 1e-3 * before.at(32));
    EXPECT_NEAR(profile.relative_error(32), error, 1e-2 * error);
}

TEST(JobProfile, ForgetsWhatIsContradicted) {
    JobProfile profile(CurvePrior::uninformed(16));
    for (int i = 0; i < 10; ++i) {
        profile.observe(1, 100, 0.01);
        profile.observe(8, 790, 0.01);
    }
    for (int i = 0; i < 3; ++i) {  // another phase of the training: half as fast, saturating
        profile.observe(8, 200, 0.01);
        profile.observe(1, 50, 0.01);
    }
    EXPECT_NEAR(profile.speed_up().at(8), 4, 0.2);
}

// Its interval holds the truth about as often as it says.
TEST(JobProfile, ErrorsAreHonest) {
    int inside = 0;
    constexpr int trials = 300;
    for (std::uint64_t seed = 0; seed < trials; ++seed) {
        CounterRandom random(seed);
        const double exponent = 0.92 + 0.06 * (2 * random.uniform() - 1) * 1.7;
        JobProfile profile(CurvePrior::uninformed(64));
        profile.observe(2, std::pow(2, exponent), 0.01);
        profile.observe(8, std::pow(8, exponent), 0.01);
        const double off = std::log(profile.speed_up().at(64) / std::pow(64, exponent));
        inside += std::abs(off) <= 2 * profile.relative_error(64) ? 1 : 0;
    }
    EXPECT_GT(inside, trials * 9 / 10);
}

TEST(SiteCurves, MakeTheNextJobBetterKnown) {
    SiteCurves site(64);
    for (int i = 0; i < 30; ++i) {
        JobProfile job(site.prior());
        for (const int nodes : {1, 2, 4, 8, 16, 32, 64}) {
            job.observe(nodes, 10 * amdahl(nodes), 0.01);
        }
        site.add(job);
    }
    const JobProfile next(site.prior());
    EXPECT_NEAR(next.speed_up().at(64) / amdahl(64), 1, 0.15);
    EXPECT_LT(std::abs(next.speed_up().at(64) - amdahl(64)),
              std::abs(JobProfile(CurvePrior::uninformed(64)).speed_up().at(64) - amdahl(64)) / 3);
}

}  // namespace
}  // namespace mastic::schedule
