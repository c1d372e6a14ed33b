// Runs one rank's plan over a transport.
#pragma once

#include <memory>

#include <mastic/comm/group.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/comm/plan/schedule.hpp>
#include <mastic/comm/transport.hpp>
#include <mastic/comm/wire.hpp>
#include <mastic/core/bytes.hpp>

namespace mastic::comm {

struct PlanOperationOptions {
    int lane = 0;
    // At most this much is asked of a stream at once; received and reduced in pieces of this size, which should stay in
    // the cache of a core.
    Bytes segment{128u << 10};
    Wire wire = Wire::exact;  // for sums and averages of float32; else ignored
    bool equal_parts = false;  // the blocks have exactly the same size, as in reduce-scatter and allgather
};

// In place; `average` adds. The buffer is cut by BlockLayout(count, plan.blocks).
std::unique_ptr<Operation> make_plan_operation(std::shared_ptr<const PlanSchedule> schedule, Transport& transport,
                                               BufferView buffer, ReduceOp op, const PlanOperationOptions& options);

}  // namespace mastic::comm
