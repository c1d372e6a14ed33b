#include <gtest/gtest.h>

#include <algorithm>

#include <mastic/tuning/candidates.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::TransportKind;
using comm::Wire;

const CandidateLimits everything{
    {TransportKind::native, TransportKind::mpi, TransportKind::shm, TransportKind::tcp},
    {},
    {Bytes{64u << 10}},
    {8}};

std::vector<Choice> list(Collective collective, const GroupShape& shape, Bytes size, Wire wire = Wire::exact,
                         const CandidateLimits& limits = everything) {
    return candidates(collective, wire, shape, size, limits);
}

std::ptrdiff_t count(const std::vector<Choice>& choices, const auto& condition) {
    return std::ranges::count_if(choices, condition);
}
const auto over = [](TransportKind transport) {
    return [transport](const Choice& choice) { return choice.transport == transport; };
};
const auto named = [](const char* name) {
    return [name](const Choice& choice) { return choice.algorithm == name; };
};

TEST(Candidates, AreAllDifferent) {
    for (const GroupShape& shape : {GroupShape{1, 4}, GroupShape{4, 1}, GroupShape{2, 2}}) {
        for (const Collective collective : comm::collectives) {
            for (const std::uint64_t size : {64u, 1u << 20, 64u << 20}) {
                const auto choices = list(collective, shape, Bytes{size});
                for (const Choice& choice : choices) {
                    EXPECT_EQ(std::ranges::count(choices, choice), 1) << comm::to_string(choice);
                }
            }
        }
    }
}

TEST(Candidates, OneNodeHasSharedMemoryAndNoLoopback) {
    const auto choices = list(Collective::allreduce, {1, 4}, Bytes{1024});
    EXPECT_GT(count(choices, over(TransportKind::shm)), 0);
    EXPECT_GT(count(choices, over(TransportKind::native)), 0);
    EXPECT_EQ(count(choices, over(TransportKind::tcp)), 0);
    const CandidateLimits only_tcp{{TransportKind::tcp}, {}, {}, {}};
    EXPECT_GT(list(Collective::allreduce, {1, 4}, Bytes{1024}, Wire::exact, only_tcp).size(), 0u);
}

TEST(Candidates, MethodsThatMayFailElsewhereAreLeftToAuto) {
    const auto choices = list(Collective::allreduce, {1, 4}, Bytes{1024});
    EXPECT_EQ(count(choices, named("auto")), 1);
    EXPECT_EQ(count(choices, named("direct")), 0);
    EXPECT_EQ(count(choices, named("single-copy")), 0);
}

TEST(Candidates, HierarchiesAreForSeveralRanksOnSeveralNodes) {
    const auto hierarchical = [](const Choice& choice) { return choice.hierarchical; };
    EXPECT_GT(count(list(Collective::allreduce, {2, 2}, Bytes{1024}), hierarchical), 0);
    EXPECT_EQ(count(list(Collective::allreduce, {4, 1}, Bytes{1024}), hierarchical), 0);
    EXPECT_EQ(count(list(Collective::broadcast, {2, 2}, Bytes{1024}), hierarchical), 0);
    EXPECT_EQ(count(list(Collective::allreduce, {2, 2}, Bytes{1024}), over(TransportKind::shm)), 0);
}

TEST(Candidates, SegmentsAndDepthsOnlyWhereTheyDiffer) {
    const auto segmented = [](const Choice& choice) { return choice.segment.count > 0; };
    const auto deep = [](const Choice& choice) { return choice.depth != Choice{}.depth; };
    EXPECT_EQ(count(list(Collective::allreduce, {2, 1}, Bytes{64u << 10}), segmented), 0);
    EXPECT_GT(count(list(Collective::allreduce, {2, 1}, Bytes{128u << 10}), segmented), 0);
    EXPECT_EQ(count(list(Collective::allreduce, {2, 1}, Bytes{128u << 10}), deep), 0);
    EXPECT_EQ(count(list(Collective::allreduce, {2, 1}, Bytes{64u << 20}), deep), 2);  // own segment and 64K
}

TEST(Candidates, AWireTravelsByPlansOnly) {
    const auto choices = list(Collective::allreduce, {1, 2}, Bytes{1024}, Wire::bfloat16);
    ASSERT_FALSE(choices.empty());
    for (const Choice& choice : choices) {
        EXPECT_EQ(choice.wire, Wire::bfloat16);
        EXPECT_NE(comm::find_plan_algorithm(Collective::allreduce, choice.algorithm), nullptr)
            << choice.algorithm;
    }
}

TEST(Candidates, CanBeLimitedByName) {
    CandidateLimits limits = everything;
    limits.algorithms = {"ring"};
    for (const Choice& choice : list(Collective::allreduce, {2, 2}, Bytes{1u << 20}, Wire::exact, limits)) {
        EXPECT_EQ(choice.algorithm, "ring");
    }
}

}  // namespace
}  // namespace mastic::tuning
