#include <mastic/interposer/settings.hpp>

#include <algorithm>

#include <mastic/core/error.hpp>

namespace mastic::interposer {

using namespace comm;

namespace {

Choice to_mpi() {
    return {.transport = TransportKind::native};
}

// What MPI does as fast or faster. By shared memory it was measured with 2 bound ranks and MPICH 4.0.2: an allreduce takes
// the same time at 8 bytes and 0.56 of it at 1 KiB; broadcast and reduce-scatter, which copy through slots, lose.
std::vector<SelectionRow> rows_for_mpi(TransportKind transport) {
    if (transport == TransportKind::shm) {
        return {{Collective::allreduce, Bytes{512}, to_mpi()},
                {Collective::broadcast, any_size, to_mpi()},
                {Collective::reduce_scatter, any_size, to_mpi()}};
    }
    return {{Collective::allreduce, Bytes{64u << 10}, to_mpi()},
            {Collective::broadcast, Bytes{256u << 10}, to_mpi()},
            {Collective::reduce_scatter, Bytes{64u << 10}, to_mpi()}};
}

}  // namespace

Settings read_settings(const Environment& environment) {
    Settings settings;
    const std::string report = environment("MASTIC_PMPI_REPORT").value_or("");
    settings.report = !report.empty() && report != "0";
    settings.network = environment("MASTIC_PMPI_NETWORK").value_or("auto");
    settings.tuning = environment("MASTIC_PMPI_TUNING").value_or("");
    const std::string transport = environment("MASTIC_PMPI_TRANSPORT").value_or("auto");
    try {
        settings.transport = parse_transport(transport);
        if (settings.transport == TransportKind::mpi) {
            throw Error(ExitCode::usage, "transport 'mpi' is not for programs that call MPI themselves");
        }
    } catch (const Error& error) {
        settings.complaint =
            std::string("MASTIC_PMPI_TRANSPORT: ") + error.what() + ": auto, shm, tcp or native";
        settings.transport = TransportKind::native;
    }
    return settings;
}

const Settings& settings() {
    static const auto& read = *new Settings(read_settings(process_environment()));
    return read;
}

SelectionMap select_calls(const Topology& topology, TransportKind transport, bool everything) {
    std::vector<SelectionRow> rows = default_selection(topology, transport).rows();
    if (everything) {
        return SelectionMap(std::move(rows));
    }
    for (const SelectionRow& mpi : rows_for_mpi(transport)) {
        std::erase_if(rows, [&mpi](const SelectionRow& row) {
            return row.collective == mpi.collective && row.up_to.count <= mpi.up_to.count;
        });
        rows.insert(std::ranges::find(rows, mpi.collective, &SelectionRow::collective), mpi);
    }
    return SelectionMap(std::move(rows));
}

SelectionMap select_tuned(const SelectionMap& table, const Topology& topology) {
    std::vector<SelectionRow> rows;
    for (SelectionRow row : table.rows()) {
        if (row.memory != MemoryKind::host) {
            continue;
        }
        const bool shm_over_nodes = row.choice.transport == TransportKind::shm && topology.nodes() > 1;
        if (row.choice.transport == TransportKind::mpi || shm_over_nodes) {
            row.choice = to_mpi();
        }
        rows.push_back(std::move(row));
    }
    return SelectionMap(std::move(rows));
}

}  // namespace mastic::interposer
