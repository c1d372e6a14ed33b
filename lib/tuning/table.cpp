#include <mastic/tuning/table.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::SelectionMap;
using comm::TransportKind;
using comm::Wire;

double log_bytes(const SizeResult& size) {
    return std::log2(static_cast<double>(size.bytes.count));
}

// log(time of `a` / time of `b`) at a size; none if one of them is not known there.
std::optional<double> lead(const SizeResult& size, const Choice& a, const Choice& b) {
    const Candidate* first = size.find(a);
    const Candidate* second = size.find(b);
    if (first == nullptr || second == nullptr) {
        return std::nullopt;
    }
    return std::log(first->timing.median_us / second->timing.median_us);
}

// Between 0 (the smaller size) and 1.
double crossing(const SizeResult& small, const SizeResult& large) {
    const auto before = lead(small, small.chosen().choice, large.chosen().choice);
    const auto after = lead(large, small.chosen().choice, large.chosen().choice);
    if (!before || !after || !(*after - *before > 0)) {
        return 0.5;
    }
    return std::clamp(-*before / (*after - *before), 0.0, 1.0);
}

// Rows of neighbouring sizes with one choice become one.
void append_rows(std::vector<comm::SelectionRow>& rows, const CollectiveResult& result, Wire wire) {
    bool first = true;
    for (const SizeResult& size : result.sizes) {
        Choice choice = size.chosen().choice;
        choice.wire = wire;
        if (!first && rows.back().choice == choice) {
            rows.back().up_to = size.up_to;
        } else {
            rows.push_back({result.collective, size.up_to, choice, result.memory});
        }
        first = false;
    }
}

}  // namespace

const char* to_string(Verdict verdict) {
    constexpr const char* names[] = {"chosen", "measured", "dropped", "wrong"};
    return names[static_cast<int>(verdict)];
}

const Candidate& SizeResult::chosen() const {
    return *std::ranges::find(candidates, Verdict::chosen, &Candidate::verdict);
}

const Candidate* SizeResult::find(const Choice& choice) const {
    const auto found = std::ranges::find(candidates, choice, &Candidate::choice);
    return found == candidates.end() || found->verdict == Verdict::wrong ? nullptr : &*found;
}

const CollectiveResult* ShapeResult::find(Collective collective, Wire wire, comm::MemoryKind memory) const {
    const auto found = std::ranges::find_if(collectives, [&](const CollectiveResult& result) {
        return result.collective == collective && result.wire == wire && result.memory == memory;
    });
    return found == collectives.end() ? nullptr : &*found;
}

std::string table_text_of(const std::filesystem::path& path) {
    constexpr std::uintmax_t largest = 64u << 20;
    std::error_code error;
    if (std::filesystem::file_size(path, error) > largest && !error) {
        throw Error(ExitCode::data,
                    path.string() + " is larger than " + human(Bytes{largest}) + ": that is no tuning table",
                    "name the tuning.json that mastic-tune run wrote");
    }
    return read_text_file(path);
}

TuningTable TuningTable::load(const std::filesystem::path& path) { return parse(table_text_of(path), path.string()); }

void TuningTable::save(const std::filesystem::path& path) const {
    write_file_atomically(path, to_json());
}

void TuningTable::require_machine(const Machine& here) const {
    const std::vector<std::string> differences = hardware_differences(machine, here);
    if (differences.empty()) {
        return;
    }
    std::string text;
    for (const std::string& line : differences) {
        text += (text.empty() ? "" : "; ") + line;
    }
    throw Error(ExitCode::environment, "the tuning table was measured on other hardware: " + text,
                "run `mastic-tune run` here for a table of this machine, or go without one");
}

SelectionMap selection_of(const ShapeResult& result, Wire wire) {
    std::vector<comm::SelectionRow> rows;
    for (const Collective collective : comm::collectives) {
        const Wire own = collective == Collective::allreduce ? wire : Wire::exact;
        for (const comm::MemoryKind memory : {comm::MemoryKind::host, comm::MemoryKind::device}) {
            const CollectiveResult* found = result.find(collective, own, memory);
            found = found != nullptr ? found : result.find(collective, Wire::exact, memory);
            if (found != nullptr) {
                append_rows(rows, *found, own);
            }
        }
    }
    return SelectionMap(std::move(rows));
}

TunedSelection TuningTable::selection_for(const GroupShape& shape, Wire wire) const {
    std::vector<GroupShape> known;
    for (const ShapeResult& result : shapes) {
        known.push_back(result.shape);
    }
    if (const auto nearest = nearest_shape(known, shape)) {
        const ShapeResult& result = *std::ranges::find(shapes, *nearest, &ShapeResult::shape);
        std::string note = *nearest == shape
                               ? "rows of " + to_string(shape)
                               : "no rows of " + to_string(shape) + ": those of " + to_string(*nearest);
        if (wire != Wire::exact && result.find(Collective::allreduce, wire) == nullptr) {
            note += std::string("; the ") + to_string(wire) +
                    " wire was not measured, so the choices are those of exact";
        }
        return {std::make_shared<SelectionMap>(selection_of(result, wire)), std::move(note)};
    }
    if (auto predicted = predict_selection(links, shape)) {
        std::vector<comm::SelectionRow> rows = predicted->rows();
        for (comm::SelectionRow& row : rows) {
            row.choice.wire = row.collective == Collective::allreduce ? wire : Wire::exact;
        }
        return {std::make_shared<SelectionMap>(std::move(rows)),
                "no rows of " + to_string(shape) + " or a shape like it: predicted by the cost model"};
    }
    return {nullptr, "no rows of " + to_string(shape) +
                         " or a shape like it, and no cost model for it: built-in choices"};
}

void set_limits(std::vector<SizeResult>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        sizes[i].up_to = sizes[i].bytes;
        if (i + 1 < sizes.size()) {
            const double low = log_bytes(sizes[i]), high = log_bytes(sizes[i + 1]);
            const double limit = std::exp2(low + crossing(sizes[i], sizes[i + 1]) * (high - low));
            sizes[i].up_to = Bytes{std::clamp(static_cast<std::uint64_t>(limit), sizes[i].bytes.count,
                                              sizes[i + 1].bytes.count - 1)};
        }
    }
}

std::vector<CostSample> cost_samples(const std::vector<ShapeResult>& shapes) {
    std::vector<CostSample> samples;
    for (const ShapeResult& result : shapes) {
        if (result.shape.nodes > 1 && result.shape.ranks_per_node > 1) {
            continue;
        }
        for (const CollectiveResult& series : result.collectives) {
            if (series.memory != comm::MemoryKind::host) {
                continue;  // copies to and from the device are in its times
            }
            for (const SizeResult& size : series.sizes) {
                for (const Candidate& candidate : size.candidates) {
                    const Choice& choice = candidate.choice;
                    const comm::PlanAlgorithm* plan =
                        find_plan_algorithm(series.collective, choice.algorithm);
                    if (plan == nullptr || choice.transport == TransportKind::native ||
                        choice.segment.count > 0 || choice.wire != Wire::exact ||
                        candidate.verdict == Verdict::wrong) {
                        continue;
                    }
                    samples.push_back({choice.transport,
                                       result.shape.nodes == 1 ? Level::node : Level::network,
                                       series.collective, plan->name, result.shape.ranks(), size.bytes,
                                       candidate.timing.median_us});
                }
            }
        }
    }
    return samples;
}

}  // namespace mastic::tuning
