#include <mastic/comm/collective/setup.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include <mastic/comm/collective/fabric.hpp>
#include <mastic/comm/tcp/tcp_transport.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

bool uses_table(const GroupOptions& options) {
    return options.selection && options.transport == TransportKind::automatic && options.algorithm == "auto";
}

class Setup {
  public:
    Setup(const SetupSource& source, const Topology& topology, const GroupOptions& options)
        : source_(source), exchange_(source.exchange), topology_(topology), options_(options) {}

    CollectiveSetup run() {
        const std::set<TransportKind> wanted = wanted_transports();
        if (topology_.size() == 1 || (wanted.size() == 1 && wanted.contains(TransportKind::native))) {
            return {};
        }
        if (wants_node(wanted)) {
            make_node(wanted.contains(TransportKind::shm));
        }
        for (const TransportKind kind : wanted) {
            make_remote(kind, true);
        }
        TransportKind kind = single_transport();
        if (wanted.contains(TransportKind::automatic)) {
            kind = choose();
            if (!make_remote(kind, false)) {
                kind = TransportKind::mpi;
                make_remote(kind, true);
            }
        }
        const bool native = kind == TransportKind::native && !uses_table();
        CollectiveSetup setup;
        setup.selection = native ? SelectionMap() : select(topology_, options_, kind);
        if (parts_.node || parts_.mpi || parts_.tcp) {
            setup.collectives = std::make_unique<Collectives>(topology_, std::move(parts_));
        }
        return setup;
    }

  private:
    bool uses_table() const { return comm::uses_table(options_); }

    // What transport and algorithm say together.
    TransportKind single_transport() const {
        return options_.algorithm.starts_with("native-") ? TransportKind::native : options_.transport;
    }

    std::set<TransportKind> wanted_transports() const {
        std::set<TransportKind> wanted(options_.also_open.begin(), options_.also_open.end());
        if (!uses_table()) {
            wanted.insert(single_transport());
            return wanted;
        }
        for (const SelectionRow& row : options_.selection->rows()) {
            wanted.insert(row.choice.transport);
        }
        return wanted;
    }

    // On one node, tcp and mpi alone are what somebody asked for to see them.
    bool wants_node(const std::set<TransportKind>& wanted) const {
        const bool shm = wanted.contains(TransportKind::shm);
        if (shm && topology_.nodes() > 1) {
            throw Error(ExitCode::usage,
                        "shared memory ends at the node, and this group has ranks on several",
                        "choose tcp or mpi, which use shared memory inside the nodes; or auto");
        }
        return topology_.most_ranks_per_node() > 1 &&
               (topology_.nodes() > 1 || shm || wanted.contains(TransportKind::automatic));
    }

    TransportKind choose() {
        if (topology_.nodes() == 1) {
            return parts_.node ? TransportKind::shm : TransportKind::native;
        }
        std::int32_t fast = has_fast_fabric() ? 1 : 0;
        exchange_.allreduce(view_of(std::span(&fast, 1)), ReduceOp::min, {.name = "look for a fast fabric"});
        return fast != 0 ? TransportKind::native : TransportKind::tcp;
    }

    // Runs `make` on all ranks. If it fails on one: where it is `required` all throw, else all give up what they made.
    template <class Make>
    bool all_make(bool required, const std::string& what, const Make& make) {
        try {
            run_together(exchange_, make);
            return true;
        } catch (const Error& error) {
            if (required) {
                throw;
            }
            if (exchange_.rank() == 0) {
                spdlog::warn("no {}: {}", what, error.what());
            }
            return false;
        }
    }

    void make_node(bool required) {
        const std::unique_ptr<Group> local =
            source_.split(topology_.local_ranks().front(), topology_.local_rank());
        const bool made = all_make(required, "shared memory inside the node", [&] {
            if (topology_.local_size() > 1) {
                parts_.node = ShmNode::create(*local, {.lanes = source_.lanes,
                                                       .cores_to_spare = source_.cores_to_spare,
                                                       .allocates = source_.allocates});
            }
        });
        if (!made) {
            parts_.node.reset();
        }
        parts_.shares_nodes = made;
    }

    // False: there is no such transport here, and it is not `required`.
    bool make_remote(TransportKind kind, bool required) {
        if (kind == TransportKind::mpi && !parts_.mpi) {
            parts_.mpi = source_.make_message_transport();
        }
        if (kind != TransportKind::tcp || parts_.tcp) {
            return true;
        }
        const bool made = all_make(required, "TCP between the nodes", [this] {
            parts_.tcp = TcpTransport::create(exchange_, source_.loop, {.network = options_.network});
        });
        if (!made) {
            parts_.tcp.reset();
        }
        return made;
    }

    const SetupSource& source_;
    Group& exchange_;
    const Topology& topology_;
    const GroupOptions& options_;
    CollectiveParts parts_;
};

}  // namespace

SelectionMap select(const Topology& topology, const GroupOptions& options, TransportKind kind) {
    if (uses_table(options)) {
        return *options.selection;
    }
    std::vector<SelectionRow> rows = default_selection(topology, kind).rows();
    if (options.algorithm != "auto") {
        std::erase_if(rows, [](const SelectionRow& row) { return row.collective == Collective::allreduce; });
        rows.push_back({Collective::allreduce,
                        any_size,
                        {.transport = kind,
                         .algorithm = options.algorithm,
                         .hierarchical = topology.nodes() > 1 && topology.most_ranks_per_node() > 1}});
    }
    for (SelectionRow& row : rows) {
        row.choice.segment = options.segment;
        row.choice.depth = options.depth;
        if (row.collective == Collective::allreduce) {
            row.choice.wire = options.wire;
        }
    }
    return SelectionMap(std::move(rows));
}

CollectiveSetup set_up_collectives(const SetupSource& source, const Topology& topology,
                                   const GroupOptions& options) {
    return Setup(source, topology, options).run();
}

}  // namespace mastic::comm
