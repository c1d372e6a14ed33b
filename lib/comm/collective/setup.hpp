// What a group gets beyond its MPI library: the transports that its options ask for, or that this machine offers.
#pragma once

#include <functional>
#include <memory>

#include <mastic/comm/collective/collectives.hpp>
#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/options.hpp>

namespace mastic::comm {

struct CollectiveSetup {
    std::unique_ptr<Collectives> collectives;  // null: native operations only
    SelectionMap selection;
};

// What the set-up works with. The ranks of `exchange` are the topology's.
struct SetupSource {
    Group& exchange;  // native operations
    // As Group::split, but the part has native operations only.
    std::function<std::unique_ptr<Group>(int color, int key)> split;
    std::function<std::unique_ptr<Transport>()> make_message_transport;  // collective
    EventLoop& loop;
    int lanes = 1;
    bool cores_to_spare = false;  // every rank has a core
    bool allocates = true;  // somebody will ask the node for memory: see ShmOptions
};

// Collective. The same result on all ranks: what one rank cannot have, none gets. With the automatic transport that is a
// warning and the next best, else AgreedError(environment).
CollectiveSetup set_up_collectives(const SetupSource& source, const Topology& topology, const GroupOptions& options);

// Which algorithm for which size, if `kind` is the transport that the options came to: their table, or what they name, or
// the default.
SelectionMap select(const Topology& topology, const GroupOptions& options, TransportKind kind);

}  // namespace mastic::comm
