#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/tuning/mpich_selection.hpp>

#include "support/expect_error.hpp"

namespace mastic::tuning {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* builtin =
    R"({"collective=bcast":{"comm_type=intra":{"algorithm=A":{}}},)"
    R"("collective=allreduce":{"comm_type=intra":{"avg_msg_size=any":{"algorithm=B":{}}},"comm_type=inter":{"algorithm=C":{}}}})";

const MpichAlgorithm* named(const std::string& name) {
    return &*std::ranges::find_if(mpich_algorithms(),
                                  [&name](const auto& algorithm) { return algorithm.name == name; });
}

TEST(MpichSelection, ReplacesOnlyTheRulesOfAllreduce) {
    const std::vector<MpichRow> rows = {{Bytes{65536}, named("recursive_doubling")},
                                        {Bytes{1u << 20}, named("reduce_scatter_allgather")}};
    const Json json = Json::parse(mpich_selection(builtin, rows));
    EXPECT_EQ(json["collective=bcast"], Json::parse(builtin)["collective=bcast"]);
    EXPECT_EQ(json["collective=allreduce"]["comm_type=inter"], Json::parse(R"({"algorithm=C":{}})"));
    const Json& rules = json["collective=allreduce"]["comm_type=intra"];
    EXPECT_EQ(rules.begin().key(), "avg_msg_size<=65536");  // MPICH takes the first that fits
    EXPECT_EQ(rules["avg_msg_size<=65536"],
              Json::parse(R"({"algorithm=MPIR_Allreduce_intra_recursive_doubling":{}})"));
    EXPECT_TRUE(rules.contains("avg_msg_size=any"));
}

// It needs an element for each rank, and an operation that MPI knows.
TEST(MpichSelection, KeepsASafeAlgorithmWhereTheOtherIsImpossible) {
    const Json json = Json::parse(
        mpich_selection(builtin, std::vector<MpichRow>{{Bytes{1}, named("reduce_scatter_allgather")}}));
    const Json& rule = json["collective=allreduce"]["comm_type=intra"]["avg_msg_size=any"];
    EXPECT_TRUE(rule["is_op_built_in=no"].contains("algorithm=MPIR_Allreduce_intra_recursive_doubling"));
    EXPECT_TRUE(rule["is_op_built_in=yes"]["count<pow2"].contains(
        "algorithm=MPIR_Allreduce_intra_recursive_doubling"));
    EXPECT_TRUE(rule["is_op_built_in=yes"]["count=any"].contains(
        "algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather"));
}

TEST(MpichSelection, AutoKeepsTheBuiltInRules) {
    const Json json = Json::parse(mpich_selection(builtin, std::vector<MpichRow>{{Bytes{1}, named("auto")}}));
    EXPECT_EQ(json["collective=allreduce"]["comm_type=intra"]["avg_msg_size=any"],
              Json::parse(builtin)["collective=allreduce"]["comm_type=intra"]);
}

TEST(MpichSelection, RefusesALibraryWithoutATable) {
    const std::vector<MpichRow> rows = {{Bytes{1}, named("auto")}};
    test::expect_error(ExitCode::environment, "mpich-env", [&] { mpich_selection("", rows); });
    test::expect_error(ExitCode::environment, "mpich-env", [&] { mpich_selection("{}", rows); });
}

TEST(MpichCanary, NamesAnAlgorithmThatDoesNotExist) {
    const std::string selection = mpich_selection(builtin, std::vector<MpichRow>{{Bytes{1}, named("auto")}});
    EXPECT_NE(mpich_canary(selection).find("MPIR_Allreduce_intra_of_mastic_canary"), std::string::npos);
}

}  // namespace
}  // namespace mastic::tuning
