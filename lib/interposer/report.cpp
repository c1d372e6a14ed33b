#include <mastic/interposer/report.hpp>

#include <atomic>
#include <cstdio>
#include <utility>

#include <mastic/interposer/pmpi.hpp>
#include <mastic/interposer/settings.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::interposer {

const char* to_string(Function function) {
    constexpr const char* names[] = {"MPI_Allreduce", "MPI_Bcast", "MPI_Reduce_scatter",
                                     "MPI_Reduce_scatter_block"};
    return names[static_cast<int>(function)];
}

const char* to_string(Reason reason) {
    switch (reason) {
        case Reason::none:
            break;
        case Reason::size:
            return "size at which MPI is as fast";
        case Reason::young:
            return "little traffic on the communicator so far";
        case Reason::type:
            return "data type";
        case Reason::operation:
            return "operation";
        case Reason::empty:
            return "no elements";
        case Reason::too_long:
            return "over 2 GiB";
        case Reason::parts:
            return "parts of different lengths";
        case Reason::alone:
            return "one rank";
        case Reason::inter:
            return "inter-communicator";
        case Reason::arguments:
            return "arguments for MPI to judge";
        case Reason::unavailable:
            return "no transport";
    }
    return "";
}

void Report::count_mastic(Function function, const std::string& way, std::size_t bytes, Seconds took) {
    count({function, Reason::none, way}, bytes, took);
}

void Report::count_mpi(Function function, Reason reason, std::size_t bytes, Seconds took) {
    count({function, reason, {}}, bytes, took);
}

void Report::count(Key key, std::size_t bytes, Seconds took) {
    const std::lock_guard lock(mutex_);
    Row& row = rows_[std::move(key)];
    ++row.calls;
    row.bytes += bytes;
    row.took += took;
}

std::string Report::to_text() const {
    const std::lock_guard lock(mutex_);
    if (rows_.empty()) {
        return "mastic-pmpi: no call of a function that mastic takes over\n";
    }
    char line[256];
    std::snprintf(line, sizeof(line), "%-25s %-44s %12s %12s %12s\n", "mastic-pmpi: rank 0", "way", "calls",
                  "bytes", "seconds");
    std::string text = line;
    for (const auto& [key, row] : rows_) {
        const auto& [function, reason, mastic] = key;
        const std::string way = reason == Reason::none ? mastic : std::string("MPI: ") + to_string(reason);
        std::snprintf(line, sizeof(line), "%-25s %-44s %12llu %12s %12.3f\n", to_string(function),
                      way.c_str(), static_cast<unsigned long long>(row.calls),
                      human(Bytes{row.bytes}).c_str(), row.took.count());
        text += line;
    }
    return text;
}

Report& report() {
    static auto& all = *new Report;
    return all;
}

void print_report() {
    static std::atomic<bool> printed{false};
    int started = 0;
    int ended = 0;
    int rank = -1;
    if (!settings().report || pmpi().initialized(&started) != MPI_SUCCESS || started == 0 ||
        pmpi().finalized(&ended) != MPI_SUCCESS || ended != 0 || printed.exchange(true)) {
        return;
    }
    pmpi().comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::fputs(report().to_text().c_str(), stderr);
    }
}

}  // namespace mastic::interposer
