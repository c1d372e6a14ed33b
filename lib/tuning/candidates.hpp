// What a sweep measures for one collective at one size: every way to do it that is allowed and differs there.
#pragma once

#include <string>
#include <vector>

#include <mastic/comm/selection.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/tuning/group_shape.hpp>

namespace mastic::tuning {

struct CandidateLimits {
    std::vector<comm::TransportKind> transports;
    std::vector<std::string> algorithms;  // empty: all
    std::vector<Bytes> segments;          // besides each transport's own
    std::vector<int> depths;              // of native-pipelined, besides 4
};

// Left out: segments that the buffer does not exceed, and depths that it does not fill; on a 16-bit wire what would
// travel exactly all the same (native operations, methods of shared memory); tcp on one node, unless it is the only
// transport; the methods `direct` and `single-copy`, which `auto` takes where they are possible and which fail
// elsewhere.
std::vector<comm::Choice> candidates(comm::Collective collective, comm::Wire wire, const GroupShape& shape,
                                     Bytes size, const CandidateLimits& limits);

}  // namespace mastic::tuning
