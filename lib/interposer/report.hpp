// What became of the program's collective calls, for MASTIC_PMPI_REPORT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <mastic/core/duration.hpp>

namespace mastic::interposer {

enum class Function { allreduce, bcast, reduce_scatter, reduce_scatter_block };
const char* to_string(Function function);  // "MPI_Allreduce"

// Why a call went to MPI.
enum class Reason {
    none,
    size,         // MPI is as fast
    young,        // too little traffic on the communicator so far to set it up
    type,         // no arithmetic for it here
    operation,    // none that mastic has
    empty,        // nothing to reduce
    too_long,     // over 2 GiB of a broadcast
    parts,        // of different lengths
    alone,        // one rank
    inter,        // an inter-communicator
    arguments,    // for MPI to complain about
    unavailable,  // no transport
};
const char* to_string(Reason reason);

// Thread-safe.
class Report {
  public:
    void count_mastic(Function function, const std::string& way, std::size_t bytes, Seconds took);
    void count_mpi(Function function, Reason reason, std::size_t bytes, Seconds took);
    std::string to_text() const;

  private:
    struct Row {
        std::uint64_t calls = 0;
        std::uint64_t bytes = 0;
        Seconds took{0};
    };
    using Key = std::tuple<Function, Reason, std::string>;  // the way, where mastic did it

    void count(Key key, std::size_t bytes, Seconds took);

    mutable std::mutex mutex_;
    std::map<Key, Row> rows_;
};

Report& report();  // of this process

// On rank 0, once, if it is asked for. MPI is still there.
void print_report();

}  // namespace mastic::interposer
