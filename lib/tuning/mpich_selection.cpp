#include <mastic/tuning/mpich_selection.hpp>

#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>

namespace mastic::tuning {
namespace {

using Json = nlohmann::ordered_json;  // MPICH takes the first rule that fits

constexpr MpichAlgorithm known_algorithms[] = {
    {"auto", 0, nullptr},
    {"recursive_doubling", 3, "MPIR_Allreduce_intra_recursive_doubling"},
    {"reduce_scatter_allgather", 4, "MPIR_Allreduce_intra_reduce_scatter_allgather"},
    {"smp", 2, "MPIR_Allreduce_intra_smp"},
};
constexpr const char* safe = "MPIR_Allreduce_intra_recursive_doubling";

Json leaf(const std::string& function) {
    return {{"algorithm=" + function, Json::object()}};
}

Json rule(const MpichAlgorithm& algorithm, const Json& builtin) {
    const std::string name = algorithm.name;
    if (algorithm.function == nullptr) {
        return builtin;
    }
    if (name == "reduce_scatter_allgather") {
        return {
            {"is_op_built_in=no", leaf(safe)},
            {"is_op_built_in=yes", {{"count<pow2", leaf(safe)}, {"count=any", leaf(algorithm.function)}}}};
    }
    if (name == "smp") {
        return {{"comm_hierarchy=parent",
                 {{"is_commutative=yes", leaf(algorithm.function)}, {"is_commutative=no", leaf(safe)}}},
                {"comm_hierarchy=any", leaf(safe)}};
    }
    return leaf(algorithm.function);
}

}  // namespace

std::span<const MpichAlgorithm> mpich_algorithms() {
    return known_algorithms;
}

std::string mpich_selection(std::string_view builtin, std::span<const MpichRow> rows) {
    Json json = Json::parse(builtin, nullptr, false);
    const bool known = json.is_object() && json.contains("collective=allreduce") &&
                       json["collective=allreduce"].contains("comm_type=intra");
    if (!known) {
        throw Error(ExitCode::environment,
                    "this MPI library has no built-in table of collective algorithms as MPICH 4.0 has",
                    "--format mpich-env needs none");
    }
    const Json before = json["collective=allreduce"]["comm_type=intra"];
    Json rules = Json::object();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string range = i + 1 == rows.size()
                                      ? "avg_msg_size=any"
                                      : "avg_msg_size<=" + std::to_string(rows[i].up_to.count);
        rules[range] = rule(*rows[i].algorithm, before);
    }
    json["collective=allreduce"]["comm_type=intra"] = std::move(rules);
    return json.dump() + "\n";
}

std::string mpich_canary(const std::string& selection) {
    Json json = Json::parse(selection);
    json["collective=allreduce"]["comm_type=intra"] = {
        {"avg_msg_size=any", leaf("MPIR_Allreduce_intra_of_mastic_canary")}};
    return json.dump() + "\n";
}

}  // namespace mastic::tuning
