#include <mastic/comm/options.hpp>

#include <vector>

#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/comm/shm_method.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>

namespace mastic::comm {

namespace {

constexpr Algorithm chosen_or_native[] = {
    {"auto", "chosen by size, transport and number of ranks, or by --allreduce.tuning", false},
    {"native-blocking", "MPI_Allreduce of the whole buffer, on the progress thread", true},
    {"native-pipelined", "MPI_Iallreduce per segment, with a bounded number of segments in flight", false},
};

std::vector<Algorithm> make_table() {
    std::vector<Algorithm> table(std::begin(chosen_or_native), std::end(chosen_or_native));
    for (const ShmMethodName& method : shm_methods()) {
        if (method.method != ShmMethod::automatic) {
            table.push_back({method.name, method.description});
        }
    }
    for (const PlanAlgorithm& plan : plan_algorithms()) {
        if (plan.collective == Collective::allreduce) {
            table.push_back({plan.name, plan.description});
        }
    }
    return table;
}

void require(bool holds, const std::string& option, const std::string& range) {
    if (!holds) {
        throw Error(ExitCode::usage, option + " is out of range", "it must be " + range);
    }
}

}  // namespace

std::span<const Algorithm> algorithms() {
    static const std::vector<Algorithm> table = make_table();
    return table;
}

const Algorithm& find_algorithm(std::string_view name) {
    return require_named(algorithms(), name, "allreduce algorithm");
}

void validate(const GroupOptions& options) {
    find_algorithm(options.algorithm);
    require(options.depth >= 1 && options.depth <= 1024, "allreduce depth", "1 to 1024");
    require(options.operations_in_flight >= 1 && options.operations_in_flight <= 1024,
            "number of operations in flight", "1 to 1024");
    require(options.staging.depth >= 1 && options.staging.depth <= 64, "staging depth", "1 to 64");
    require(options.staging.chunk.count >= 4096, "staging chunk", "at least 4K");
    require(options.compute_threads >= 1, "number of compute threads", "at least 1");
    require(options.limits.stall_report.count() > 0, "stall report", "more than 0 s");
    require(options.limits.timeout.count() > 0, "allreduce timeout", "more than 0 s");
}

}  // namespace mastic::comm
