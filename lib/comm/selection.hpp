// Which algorithm an operation takes, as a map that people can read: collective x memory x size -> choice. The tuner measures
// one per group shape; default_selection() is the guess without a measurement.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/comm/topology.hpp>
#include <mastic/comm/wire.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::comm {

enum class TransportKind {
    automatic,
    native,  // the MPI library's own collectives
    mpi,     // our plans over MPI point-to-point
    shm,     // shared memory, within a node
    tcp,     // our plans over TCP
};
struct TransportName {
    TransportKind kind;
    const char* name;
    const char* description;
};
std::span<const TransportName> transports();
TransportKind parse_transport(std::string_view name);  // throws Error(usage) with a suggestion
const char* to_string(TransportKind kind);

struct Choice {
    TransportKind transport = TransportKind::native;
    // native: native-blocking or native-pipelined; shm: a plan, "auto" or a method of shm_methods(); mpi, tcp: a plan.
    std::string algorithm = "native-pipelined";
    bool hierarchical = false;  // allreduce over mpi and tcp: reduce inside the nodes first, by shared memory
    Bytes segment{0};           // 0: the transport's own
    int depth = 4;              // segments in flight, of native-pipelined and of a stream over MPI
    Wire wire = Wire::exact;

    bool operator==(const Choice&) const = default;
};
std::string to_string(const Choice& choice);  // "tcp ring, hierarchical, segment 128K"

inline constexpr Bytes any_size{~std::uint64_t{0}};  // as SelectionRow::up_to

struct SelectionRow {
    Collective collective;
    Bytes
        up_to;  // of the buffer: of the whole result for allgather, of the whole contribution for reduce-scatter
    Choice choice;
    MemoryKind memory = MemoryKind::host;  // host or device
};

// Rows of one collective and memory ascend in `up_to`; sizes beyond the last row take it.
class SelectionMap {
  public:
    SelectionMap() = default;
    explicit SelectionMap(std::vector<SelectionRow> rows);  // throws Error(data) if they do not ascend

    // Null: the map says nothing about this collective in this memory.
    const Choice* find(Collective collective, Bytes size, MemoryKind memory = MemoryKind::host) const;
    const std::vector<SelectionRow>& rows() const { return rows_; }
    std::string to_text() const;  // a row a line

  private:
    std::vector<SelectionRow> rows_;
};

// What the literature says about latency and bandwidth (Thakur, Rabenseifner and Gropp 2005), for shm, mpi or tcp.
SelectionMap default_selection(const Topology& topology, TransportKind transport);

}  // namespace mastic::comm
