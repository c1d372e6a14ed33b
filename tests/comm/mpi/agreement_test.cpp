// Case 3: ranks that mean different operations are told so, all of them, before anything is reduced.
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/fingerprint.hpp>

#include "comm/mpi/session_fixture.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using test::session;
using List = std::vector<OperationFingerprint>;

List three_buckets() {
    return {{"bucket 0", 1000, DataType::float32, ReduceOp::average},
            {"bucket 1", 20, DataType::float32, ReduceOp::average},
            {"bucket 2", 300, DataType::float64, ReduceOp::sum}};
}

TEST(Agreement, OfEqualListsIsSilent) {
    const auto group = session().make_group({});
    check_agreement(*group, three_buckets());
    check_agreement(*group, {});
}

struct Fault {
    const char* name;
    std::function<void(List&)> inject;
    const char* theirs;
    const char* ours;
};

TEST(Agreement, AFaultOfTheLastRankIsNamedOnAllRanks) {
    const auto group = session().make_group({});
    if (group->size() == 1) {
        GTEST_SKIP() << "one rank always agrees";
    }
    const Fault faults[] = {
        {"count", [](List& list) { list[1].count = 21; }, "bucket 1: average of 21 x float32",
         "bucket 1: average of 20"},
        {"type", [](List& list) { list[2].type = DataType::float32; }, "bucket 2: sum of 300 x float32",
         "x float64"},
        {"operation", [](List& list) { list[0].op = ReduceOp::sum; }, "bucket 0: sum of 1000",
         "bucket 0: average of"},
        {"name", [](List& list) { list[0].name = "other"; }, "other: average", "bucket 0: average"},
        {"order", [](List& list) { std::swap(list[0], list[1]); }, "bucket 1: average", "bucket 0: average"},
        {"shorter", [](List& list) { list.pop_back(); }, "no operation, its list ends after 2",
         "bucket 2: sum"},
    };
    for (const Fault& fault : faults) {
        SCOPED_TRACE(fault.name);
        List list = three_buckets();
        if (group->rank() == group->size() - 1) {
            fault.inject(list);
        }
        // Of two ranks neither has the majority: then rank 0 is taken for right.
        const std::string culprit = "rank " + std::to_string(group->size() - 1) + " disagrees";
        for (const char* part : {culprit.c_str(), fault.theirs, fault.ours}) {
            test::expect_error(ExitCode::collective, part, [&] { check_agreement(*group, list); });
        }
    }
    check_agreement(*group, three_buckets());
}

}  // namespace
}  // namespace mastic::comm
