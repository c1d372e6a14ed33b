// What mastic-tune measured on a machine: for each shape of group, collective, memory, wire and size, the time of each
// candidate and the one chosen. Kept as tuning.json, format 1, with units in its keys.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/comm/selection.hpp>
#include <mastic/tuning/cost_model.hpp>
#include <mastic/tuning/group_shape.hpp>
#include <mastic/tuning/machine.hpp>

namespace mastic::tuning {

inline constexpr int table_format = 1;

enum class Verdict {
    chosen,    // the smallest median; one per size
    measured,  // in the race until its end
    dropped,   // clearly slower after few repetitions
    wrong,     // gave a wrong result
};
const char* to_string(Verdict verdict);

// Over repetitions, each of which counts the slowest rank. Zero for a wrong candidate.
struct Timing {
    double median_us = 0;
    double q1_us = 0;
    double q3_us = 0;
    int repetitions = 0;

    bool operator==(const Timing&) const = default;
};

struct Candidate {
    comm::Choice choice;
    Verdict verdict = Verdict::measured;
    Timing timing;

    bool operator==(const Candidate&) const = default;
};

struct SizeResult {
    Bytes bytes;  // measured; of the whole buffer, as in comm::SelectionRow
    Bytes up_to;  // the choice holds up to here
    std::vector<Candidate> candidates;

    const Candidate& chosen() const;
    const Candidate* find(const comm::Choice& choice) const;  // null: not a candidate here, or wrong
    bool operator==(const SizeResult&) const = default;
};

struct CollectiveResult {
    comm::Collective collective = comm::Collective::allreduce;
    comm::Wire wire = comm::Wire::exact;
    std::vector<SizeResult> sizes;  // ascending, not empty
    comm::MemoryKind memory = comm::MemoryKind::host;  // of the buffers: host or device

    bool operator==(const CollectiveResult&) const = default;
};

struct ShapeResult {
    GroupShape shape;
    std::vector<CollectiveResult> collectives;

    const CollectiveResult* find(comm::Collective collective, comm::Wire wire,
                                 comm::MemoryKind memory = comm::MemoryKind::host) const;
    bool operator==(const ShapeResult&) const = default;
};

// What a group is to use, and where that comes from, for people. Null selection: the group's own default.
struct TunedSelection {
    std::shared_ptr<const comm::SelectionMap> selection;
    std::string note;
};

struct TuningTable {
    Machine machine;
    std::string created;  // UTC, "2025-01-31T12:00:00Z"
    std::vector<ShapeResult> shapes;
    std::vector<LinkFit> links;
    std::vector<std::string> notes;  // what was left out, and why

    // Throws Error(io) if the file cannot be read, Error(data) naming file and key if it is not a table of this format.
    static TuningTable load(const std::filesystem::path& path);
    static TuningTable parse(std::string_view text, const std::string& name);
    std::string to_json() const;
    void save(const std::filesystem::path& path) const;  // atomically; Error(io)

    // Throws Error(environment) that says what differs, if the table is of other hardware.
    void require_machine(const Machine& here) const;

    // The rows of the shape, else of the nearest one (see nearest_shape), else what the cost model predicts. Reductions
    // of gradients on another wire than the exact one take the rows of that wire.
    TunedSelection selection_for(const GroupShape& shape, comm::Wire wire = comm::Wire::exact) const;

    bool operator==(const TuningTable&) const = default;
};

// Of the file. Throws Error(io); Error(data) if it is far too large to be a table.
std::string table_text_of(const std::filesystem::path& path);

// The measured shape as a map.
comm::SelectionMap selection_of(const ShapeResult& result, comm::Wire wire);

// Fills in `up_to`: between two measured sizes the choice changes where the times of both choices, drawn as straight
// lines in the logarithms, cross; half way where one of them was not measured at both sizes.
void set_limits(std::vector<SizeResult>& sizes);

// The measured plans that the cost model is fitted to.
std::vector<CostSample> cost_samples(const std::vector<ShapeResult>& shapes);

}  // namespace mastic::tuning
