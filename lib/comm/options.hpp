// The options of a group, and the table of allreduce algorithms that they choose from.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/comm/device/staging_options.hpp>
#include <mastic/comm/poll_policy.hpp>
#include <mastic/comm/request.hpp>
#include <mastic/comm/selection.hpp>
#include <mastic/comm/wire.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::comm {

class Device;  // device/device.hpp

struct Algorithm {
    const char* name;
    const char* description;
    // Blocks the progress thread until all ranks have come: starts strictly in order, one at a time, without
    // priorities.
    bool blocking = false;
};

// Help text, tuner and logs read this table.
std::span<const Algorithm> algorithms();
const Algorithm& find_algorithm(std::string_view name);  // throws Error(usage) with a suggestion

// Default depth, and the native segment, from trends on a busy node (2 bound ranks, 44 MB of float32, polling by sleep):
// 1M x 4 took 47 to 56 ms, 256K x 8 43 to 44, 4M x 2 45 to 56, 16M x 4 100 to 104. Beside a computation on the same core
// nothing was left to wait for at any segment size, and polling for a late rank took about 1 % of the core (spinning: 16
// to 20 %).
struct GroupOptions {
    TransportKind transport = TransportKind::automatic;
    std::string algorithm = "auto";  // of allreduce; a native one implies the native transport
    Wire wire = Wire::exact;
    std::string network = "auto";  // of tcp: see tcp/tcp_transport.hpp
    Bytes segment{0};              // 0: the algorithm's own
    int depth = 4;                 // segments in flight per operation
    int operations_in_flight = 2;  // one of them is the oldest; more wait, by priority
    PollPolicy poll = PollPolicy::automatic;
    int compute_threads = 1;  // of each rank; what `automatic` counts cores for
    WaitLimits limits{};
    // From a tuning table: which algorithm for which size. Null: default_selection(). Not asked where `transport` or
    // `algorithm` say something.
    std::shared_ptr<const SelectionMap> selection{};
    // Transports to have besides those that the selection needs, for OperationOptions::choice.
    std::vector<TransportKind> also_open{};
    // For buffers on a device, which pass through host memory in chunks. Null: host memory only.
    std::shared_ptr<Device> device{};
    StagingOptions staging{};
};

inline constexpr Bytes native_segment{1u << 20};

// Throws Error(usage) naming the option that is out of range.
void validate(const GroupOptions& options);

}  // namespace mastic::comm
