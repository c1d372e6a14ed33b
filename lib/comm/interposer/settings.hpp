// What the interposer is told by environment variables, which must be the same on all ranks.
#pragma once

#include <cstddef>
#include <string>

#include <mastic/comm/selection.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::comm::interposer {

struct Settings {
    // MASTIC_PMPI_TRANSPORT: auto, shm, tcp or native. auto leaves to MPI what it does as well: small messages, fast
    // fabrics, communicators with little traffic; shm and tcp take everything they can.
    TransportKind transport = TransportKind::automatic;
    std::string network = "auto";  // MASTIC_PMPI_NETWORK: of tcp, see tcp/tcp_transport.hpp
    bool report = false;           // MASTIC_PMPI_REPORT=1
    std::string complaint;         // a value that is none; then everything is left to MPI
};

Settings read_settings(const Environment& environment);
const Settings& settings();  // of this process

// Which calls are worth it, as a map in which `native` leaves a call to MPI: mastic's algorithms, and for auto the sizes
// from which they were measured to be faster than MPICH 4.0.
SelectionMap select_calls(const Topology& topology, TransportKind transport, bool everything);

// auto sets a communicator up when this much has been reduced and broadcast on it: about what a set-up costs.
inline constexpr std::size_t set_up_after_bytes = std::size_t{4} << 20;

}  // namespace mastic::comm::interposer
