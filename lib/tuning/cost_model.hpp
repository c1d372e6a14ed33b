// The alpha-beta-gamma model of a machine: fitted to measured times, and what it would choose for a shape that nobody
// has measured. See plan_cost.hpp for the model itself.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <mastic/comm/selection.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/tuning/group_shape.hpp>
#include <mastic/tuning/plan_cost.hpp>

namespace mastic::tuning {

enum class Level { node, network };
const char* to_string(Level level);

// One measured operation of a plan on ranks that are all on one node, or all on nodes of their own.
struct CostSample {
    comm::TransportKind transport;
    Level level;
    comm::Collective collective;
    const char* algorithm;
    int ranks;
    Bytes bytes;
    double median_us;
};

struct LinkFit {
    comm::TransportKind transport = comm::TransportKind::mpi;
    Level level = Level::node;
    LinkCost cost;
    int samples = 0;
    double typical_error = 0;  // median of |predicted / measured - 1|

    bool operator==(const LinkFit&) const = default;
};

// Least squares of the relative errors, none of the three negative; one fit per transport and level that has at least
// three samples. A chain of more than two ranks is left out: its time depends on its segments.
std::vector<LinkFit> fit_links(std::span<const CostSample> samples);

// The fastest plan for each collective and size from 64 bytes to 64 MiB, over the transports that have been fitted.
// None: no fit for this kind of shape, or more than `most_modelled_ranks`.
inline constexpr int most_modelled_ranks = 128;
std::optional<comm::SelectionMap> predict_selection(std::span<const LinkFit> links, const GroupShape& shape);

}  // namespace mastic::tuning
