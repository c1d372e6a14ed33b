#include <mastic/comm/options.hpp>

#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::comm {

namespace {

constexpr Algorithm table[] = {
    {"native-blocking", "MPI_Allreduce of the whole buffer, on the progress thread", true},
    {"native-pipelined", "MPI_Iallreduce per segment, with a bounded number of segments in flight", false},
};

void require(bool holds, const std::string& option, const std::string& range) {
    if (!holds) {
        throw Error(ExitCode::usage, option + " is out of range", "it must be " + range);
    }
}

}  // namespace

std::span<const Algorithm> algorithms() {
    return table;
}

const Algorithm& find_algorithm(std::string_view name) {
    std::vector<std::string> known;
    std::string listed;
    for (const auto& entry : table) {
        if (name == entry.name) {
            return entry;
        }
        known.emplace_back(entry.name);
        listed += (listed.empty() ? "" : ", ") + known.back();
    }
    const std::string near = nearest_word(name, known);
    throw Error(ExitCode::usage, "unknown allreduce algorithm '" + std::string(name) + "'",
                near.empty() ? "one of " + listed : "did you mean '" + near + "'?");
}

void validate(const GroupOptions& options) {
    find_algorithm(options.algorithm);
    require(options.depth >= 1 && options.depth <= 1024, "allreduce depth", "1 to 1024");
    require(options.operations_in_flight >= 1 && options.operations_in_flight <= 1024,
            "number of operations in flight", "1 to 1024");
    require(options.compute_threads >= 1, "number of compute threads", "at least 1");
    require(options.limits.stall_report.count() > 0, "stall report", "more than 0 s");
    require(options.limits.timeout.count() > 0, "allreduce timeout", "more than 0 s");
}

}  // namespace mastic::comm
