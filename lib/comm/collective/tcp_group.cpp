#include <mastic/comm/collective/tcp_group.hpp>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <thread>
#include <utility>

#include <mastic/comm/collective/setup.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

// Every rank on a node of its own: nothing is shared.
Topology apart(int ranks, int rank) {
    std::vector<int> nodes(static_cast<std::size_t>(ranks));
    std::iota(nodes.begin(), nodes.end(), 0);
    return Topology(nodes, rank);
}

GroupOptions over_tcp(GroupOptions options) {
    if (options.algorithm.starts_with("native-")) {
        throw Error(ExitCode::usage,
                    "the algorithm " + options.algorithm + " needs MPI, and this group has none",
                    "choose auto or a plan");
    }
    options.transport = TransportKind::tcp;
    return options;
}

TcpOptions with_record(TcpOptions tcp) {
    if (!tcp.losses) {
        tcp.losses = std::make_shared<LossRecord>();
    }
    return tcp;
}

// A rank of a split, as it travels between the ranks. The key in front of all: its order is theirs.
struct Part {
    int color = 0;
    int key = 0;
    int port = 0;
    Token token{};
};

std::string pack_part(const Part& part) {
    std::ostringstream text;
    text << part.color << ' ' << part.key << ' ' << part.port << ' ';
    return text.str() + pack(part.token);
}

Part unpack_part(const std::string& text) {
    std::istringstream in(text);
    Part part;
    in >> part.color >> part.key >> part.port;
    in.get();
    part.token = unpack_token(text.substr(static_cast<std::size_t>(in.tellg())));
    return part;
}

}  // namespace

std::unique_ptr<TcpGroup> TcpGroup::open(TcpTable table, ListeningSocket listener,
                                         const GroupOptions& options, const TcpOptions& tcp) {
    validate(options);
    const GroupOptions own = over_tcp(options);
    auto progress = std::make_shared<ProgressThread>();
    auto channel = progress->open_channel(channel_options(own, std::thread::hardware_concurrency()));
    return std::unique_ptr<TcpGroup>(new TcpGroup(std::move(progress), std::move(channel), std::move(table),
                                                  std::move(listener), own, with_record(tcp)));
}

TcpGroup::TcpGroup(std::shared_ptr<ProgressThread> progress, std::shared_ptr<ProgressThread::Channel> channel,
                   TcpTable table, ListeningSocket listener, const GroupOptions& options,
                   const TcpOptions& tcp)
    : CollectiveGroup(std::move(progress), std::move(channel), options), table_(std::move(table)), tcp_(tcp) {
    const Topology topology = apart(size(), rank());
    CollectiveParts parts;
    parts.tcp = TcpTransport::open(progress_->event_loop(), table_, std::move(listener), tcp_);
    collectives_ = std::make_shared<Collectives>(topology, std::move(parts));
    selection_ = select(topology, options_, TransportKind::tcp);
}

TcpGroup::~TcpGroup() {
    abandon("this rank has left the group");
    progress_->shutdown(Seconds(0));
    collectives_.reset();  // its sockets are in the event loop of the progress thread
}

void TcpGroup::abandon(const std::string& reason) {
    progress_->abandon(channel_, reason);
}

std::string TcpGroup::description() const {
    return plural(size(), "rank") + ", " + collectives_->description() + " (" + options_.algorithm + ")";
}

CollectiveGroup::Native TcpGroup::native_barrier(int lane, const OperationOptions&) {
    return {.operation = collectives_->make_barrier(lane, *selection_.find(Collective::allreduce, Bytes{1}))};
}

std::unique_ptr<Group> TcpGroup::split(int color, int key) {
    const TcpPeer& self = table_.peers[static_cast<std::size_t>(rank())];
    ListeningSocket listener(self.address.with_port(0));
    const std::vector<std::string> answers =
        allgather_strings(pack_part({color, key, listener.address().port(), random_token()}));
    std::vector<std::pair<int, TcpPeer>> members;  // key, peer; by rank here
    for (const TcpPeer& peer : table_.peers) {
        const Part part = unpack_part(answers[static_cast<std::size_t>(peer.rank)]);
        if (part.color == color) {
            members.emplace_back(part.key, peer);
            members.back().second.address = peer.address.with_port(static_cast<std::uint16_t>(part.port));
        }
    }
    if (color < 0) {
        return nullptr;
    }
    std::ranges::stable_sort(members, {}, &std::pair<int, TcpPeer>::first);
    TcpTable table{.description = table_.description};
    table.token = unpack_part(answers[static_cast<std::size_t>(members.front().second.rank)]).token;
    for (auto& [unused, peer] : members) {
        const int here = static_cast<int>(table.peers.size());
        if (std::exchange(peer.rank, here) == rank()) {
            table.rank = here;
        }
        table.peers.push_back(std::move(peer));
    }
    TcpOptions tcp = tcp_;
    tcp.losses.reset();  // its ranks are others
    return open(std::move(table), std::move(listener), options_, tcp);
}

}  // namespace mastic::comm
