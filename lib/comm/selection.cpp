#include <mastic/comm/selection.hpp>

#include <algorithm>

#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>

namespace mastic::comm {

namespace {

constexpr TransportName names[] = {
    {TransportKind::automatic, "auto",
     "shm on one node; between nodes native where a fast fabric (InfiniBand, RoCE, Omni-Path) is active, "
     "else tcp"},
    {TransportKind::native, "native", "the MPI library's own collectives"},
    {TransportKind::mpi, "mpi", "mastic's algorithms over MPI messages"},
    {TransportKind::shm, "shm", "shared memory: within one node"},
    {TransportKind::tcp, "tcp", "mastic's algorithms over TCP: for Ethernet"},
};

}  // namespace

std::span<const TransportName> transports() {
    return names;
}

TransportKind parse_transport(std::string_view name) {
    return require_named(names, name, "transport").kind;
}

const char* to_string(TransportKind kind) {
    return std::ranges::find(names, kind, &TransportName::kind)->name;
}

std::string to_string(const Choice& choice) {
    std::string text = std::string(to_string(choice.transport)) + " " + choice.algorithm;
    if (choice.hierarchical) {
        text += ", hierarchical";
    }
    if (choice.segment.count != 0) {
        text += ", segment " + mastic::to_string(choice.segment);
    }
    if (choice.wire != Wire::exact) {
        text += std::string(", ") + to_string(choice.wire) + " wire";
    }
    return text;
}

SelectionMap::SelectionMap(std::vector<SelectionRow> rows) : rows_(std::move(rows)) {
    const auto series = [](const SelectionRow& row) { return std::pair(row.collective, row.memory); };
    std::ranges::stable_sort(rows_, {}, series);
    for (std::size_t i = 1; i < rows_.size(); ++i) {
        if (series(rows_[i]) == series(rows_[i - 1]) && rows_[i].up_to.count <= rows_[i - 1].up_to.count) {
            throw Error(ExitCode::data,
                        std::string("the sizes of ") + to_string(rows_[i].collective) +
                            " do not ascend in a selection map",
                        "each row of a collective says up to which size it holds");
        }
    }
}

const Choice* SelectionMap::find(Collective collective, Bytes size, MemoryKind memory) const {
    const Choice* last = nullptr;
    for (const SelectionRow& row : rows_) {
        if (row.collective != collective || row.memory != memory) {
            continue;
        }
        last = &row.choice;
        if (size.count <= row.up_to.count) {
            break;
        }
    }
    return last;
}

std::string SelectionMap::to_text() const {
    std::string text;
    for (const SelectionRow& row : rows_) {
        const std::string sizes =
            row.up_to.count == any_size.count ? "any size" : "up to " + mastic::to_string(row.up_to);
        const std::string where = row.memory == MemoryKind::device ? " of device memory" : "";
        text += std::string(to_string(row.collective)) + where + ", " + sizes + ": " + to_string(row.choice) +
                "\n";
    }
    return text;
}

SelectionMap default_selection(const Topology& topology, TransportKind transport) {
    if (transport == TransportKind::shm) {
        const auto shm = [](const char* algorithm) { return Choice{TransportKind::shm, algorithm}; };
        return SelectionMap({{Collective::allreduce, any_size, shm("auto")},
                             {Collective::broadcast, any_size, shm("chain")},
                             {Collective::reduce_scatter, any_size, shm("ring")},
                             {Collective::allgather, any_size, shm("ring")}});
    }
    const bool several = topology.nodes() > 1 && topology.most_ranks_per_node() > 1;
    const auto over = [transport, several](const char* algorithm) {
        return Choice{.transport = transport, .algorithm = algorithm, .hierarchical = several};
    };
    const auto flat = [transport](const char* algorithm) {
        return Choice{.transport = transport, .algorithm = algorithm};
    };
    return SelectionMap({{Collective::allreduce, Bytes{128u << 10}, over("recursive-doubling")},
                         {Collective::allreduce, any_size, over("ring")},
                         {Collective::broadcast, Bytes{32u << 10}, flat("binomial")},
                         {Collective::broadcast, any_size, flat("chain")},
                         {Collective::reduce_scatter, any_size, flat("ring")},
                         {Collective::allgather, Bytes{64u << 10}, flat("bruck")},
                         {Collective::allgather, any_size, flat("ring")}});
}

}  // namespace mastic::comm
