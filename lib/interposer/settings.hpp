// What the interposer is told by environment variables, which must be the same on all ranks.
#pragma once

#include <cstddef>
#include <string>

#include <mastic/comm/selection.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::interposer {

struct Settings {
    // MASTIC_PMPI_TRANSPORT: auto, shm, tcp or native. auto leaves to MPI what it does as well: small messages, fast
    // fabrics, communicators with little traffic; shm and tcp take everything they can.
    comm::TransportKind transport = comm::TransportKind::automatic;
    std::string network = "auto";  // MASTIC_PMPI_NETWORK: of tcp, see tcp/tcp_transport.hpp
    std::string tuning;            // MASTIC_PMPI_TUNING: what auto chooses by; empty: what is built in
    bool report = false;           // MASTIC_PMPI_REPORT=1
    std::string complaint;         // a value that is none; then everything is left to MPI
};

Settings read_settings(const Environment& environment);
const Settings& settings();  // of this process

// Which calls are worth it, as a map in which `native` leaves a call to MPI: mastic's algorithms, and for auto the sizes
// from which they were measured to be faster than MPICH 4.0.
comm::SelectionMap select_calls(const comm::Topology& topology, comm::TransportKind transport, bool everything);

// The rows of a tuning table; what goes through messages of MPI there is left to MPI, and so is shared memory over several nodes.
comm::SelectionMap select_tuned(const comm::SelectionMap& table, const comm::Topology& topology);

// auto sets a communicator up when this much has been reduced and broadcast on it: about what a set-up costs.
inline constexpr std::size_t set_up_after_bytes = std::size_t{4} << 20;

}  // namespace mastic::interposer
