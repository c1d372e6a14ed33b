// The measurement of one shape: for each collective, wire and size the candidates race, until one has won or the time
// of the cell is up.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mastic/tuning/candidates.hpp>
#include <mastic/tuning/measurement.hpp>
#include <mastic/tuning/race.hpp>
#include <mastic/tuning/table.hpp>
#include <mastic/tuning/time_plan.hpp>

namespace mastic::tuning {

struct Cell {
    GroupShape shape;
    comm::Collective collective = comm::Collective::allreduce;
    comm::Wire wire = comm::Wire::exact;
    Bytes size;
    comm::MemoryKind memory = comm::MemoryKind::host;

    bool operator==(const Cell&) const = default;
};
std::string to_string(const Cell& cell);  // "2 nodes x 2 ranks, allreduce, 64K"

struct SweepOptions {
    std::vector<comm::Collective> collectives;
    std::vector<comm::Wire> wires;  // of allreduce, besides exact
    std::vector<Bytes> sizes;       // ascending
    CandidateLimits limits;
    RaceRules rules;
    std::vector<comm::MemoryKind> memories{comm::MemoryKind::host};
    std::shared_ptr<comm::Device> device{};  // where `memories` has device: that of the group's options
};

// In the order of the sweep: the most useful first, should the time run out. Shapes as given; of each, collectives by
// size.
std::vector<Cell> cells_of(std::span<const GroupShape> shapes, const SweepOptions& options);

// `smallest`, times `factor`, ... up to `largest`.
std::vector<Bytes> sizes_between(Bytes smallest, Bytes largest, double factor);

struct CellResult {
    std::optional<SizeResult> measured;  // none: no candidate is possible and right
    int untried = 0;                     // candidates for which there was no time
    std::vector<comm::Choice> wrong;
};

// Collective over the measurement's group. Each candidate is tried once and checked; then they race. Candidates go in
// the order of their times at the next smaller size, if there is one: when half of the time is gone, the rest stays
// untried.
CellResult measure_cell(Measurement& measurement, comm::Group& group, const Cell& cell,
                        const SweepOptions& options, const SizeResult* smaller, Seconds allotted);

// All cells of one shape, those that begin at `first_cell` of the plan. Reports to the log, on rank 0 of the group.
struct ShapeSweep {
    ShapeResult result;
    std::vector<std::string> notes;
    int wrong = 0;
};
ShapeSweep sweep_shape(Measurement& measurement, comm::Group& group, std::span<const Cell> cells,
                       std::size_t first_cell, const TimePlan& time, const SweepOptions& options);

}  // namespace mastic::tuning
