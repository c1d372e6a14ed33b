#include <mastic/tuning/sweep.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <spdlog/spdlog.h>

#include <mastic/tuning/time_text.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::Wire;

std::string plural(std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// What a choice took at the next smaller size; with a segment that is new here, what it took without. Infinite:
// unknown.
double expected_us(const SizeResult* smaller, Choice choice) {
    const Candidate* known = smaller == nullptr ? nullptr : smaller->find(choice);
    if (known == nullptr && smaller != nullptr) {
        choice.segment = Bytes{0};
        choice.depth = Choice{}.depth;
        known = smaller->find(choice);
    }
    return known == nullptr ? std::numeric_limits<double>::infinity() : known->timing.median_us;
}

// The most promising first. Of unknown ones those that stand first in the list of their transport, so that a short time
// is enough for some of each.
std::vector<Choice> in_order_of_promise(std::vector<Choice> choices, const SizeResult* smaller) {
    std::map<std::pair<comm::TransportKind, bool>, int> listed;
    std::vector<std::tuple<double, int, std::size_t>> order;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        order.emplace_back(expected_us(smaller, choices[i]),
                           listed[{choices[i].transport, choices[i].hierarchical}]++, i);
    }
    std::ranges::sort(order);
    std::vector<Choice> sorted;
    for (const auto& [us, place, index] : order) {
        sorted.push_back(std::move(choices[index]));
    }
    return sorted;
}

// One cell under way.
class CellRace {
  public:
    CellRace(Measurement& measurement, comm::Group& group, const Cell& cell, const SweepOptions& options)
        : measurement_(measurement),
          workload_(group, cell.collective, cell.size,
                    cell.memory == comm::MemoryKind::device ? options.device : nullptr),
          rules_(options.rules),
          cell_(cell) {}

    CellResult run(std::vector<Choice> choices, Seconds allotted) {
        end_ = measurement_.elapsed() + allotted;
        half_ = measurement_.elapsed() + allotted / 2;
        try_all(std::move(choices));
        if (!choices_.empty()) {
            race();
        }
        return std::move(result_);
    }

  private:
    void try_all(std::vector<Choice> choices) {
        constexpr std::size_t always = 3;
        double best_us = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < choices.size(); ++i) {
            if (measurement_.elapsed() > half_ && choices_.size() >= always) {
                result_.untried = static_cast<int>(choices.size() - i);
                break;
            }
            const Measurement::Trial trial = measurement_.try_out(workload_, choices[i]);
            if (!trial.possible) {
                continue;
            }
            if (!trial.right) {
                result_.wrong.push_back(choices[i]);
                continue;
            }
            best_us = std::min(best_us, trial.us);
            choices_.push_back(std::move(choices[i]));
            trial_us_.push_back(trial.us);
        }
        drop_hopeless(best_us);
    }

    // What takes long and is far behind in its first run is not run again.
    void drop_hopeless(double best_us) {
        constexpr double long_us = 20'000, far = 5;
        operations_.resize(choices_.size());
        for (std::size_t i = 0; i < choices_.size(); ++i) {
            const bool hopeless = trial_us_[i] > long_us && trial_us_[i] > far * best_us;
            operations_[i] = hopeless ? 0 : operations_for(trial_us_[i]);
        }
    }

    void race() {
        std::vector<Choice> starters;
        std::vector<int> operations;
        for (std::size_t i = 0; i < choices_.size(); ++i) {
            if (operations_[i] > 0) {
                starters.push_back(choices_[i]);
                operations.push_back(operations_[i]);
            }
        }
        Race race(starters.size(), rules_);
        constexpr int least = 2;
        for (int repetition = 0; repetition < least || (!race.is_over() && measurement_.elapsed() < end_);
             ++repetition) {
            const std::vector<double> times_us = measurement_.repeat(workload_, starters, operations);
            race.add(times_us);
            for (std::size_t i = 0; i < starters.size(); ++i) {
                operations[i] = race.is_running(i) ? operations_for(times_us[i]) : 0;
            }
        }
        record(race);
    }

    void record(const Race& race) {
        SizeResult& size = result_.measured.emplace(SizeResult{cell_.size, cell_.size, {}});
        std::size_t starter = 0;
        for (std::size_t i = 0; i < choices_.size(); ++i) {
            if (operations_[i] == 0) {
                size.candidates.push_back({choices_[i], Verdict::dropped, timing_of({trial_us_[i]})});
                continue;
            }
            const Verdict running = starter == race.leader() ? Verdict::chosen : Verdict::measured;
            size.candidates.push_back({choices_[i], race.is_running(starter) ? running : Verdict::dropped,
                                       timing_of(race.times_us(starter))});
            ++starter;
        }
        for (const Choice& choice : result_.wrong) {
            size.candidates.push_back({choice, Verdict::wrong, {}});
        }
    }

    Measurement& measurement_;
    Workload workload_;
    RaceRules rules_;
    Cell cell_;
    Seconds half_{0};
    Seconds end_{0};
    std::vector<Choice> choices_;  // possible and right
    std::vector<double> trial_us_;
    std::vector<int> operations_;  // 0: not in the race
    CellResult result_;
};

void report(const Cell& cell, const CellResult& result) {
    for (const Choice& choice : result.wrong) {
        spdlog::error("{}: {} gives a wrong result", to_string(cell), comm::to_string(choice));
    }
    if (!result.measured) {
        spdlog::warn("{}: no candidate", to_string(cell));
        return;
    }
    const Candidate& best = result.measured->chosen();
    spdlog::info("{}: {}, {} ({} to {}), best of {}", to_string(cell), comm::to_string(best.choice),
                 time_text(best.timing.median_us), time_text(best.timing.q1_us), time_text(best.timing.q3_us),
                 plural(result.measured->candidates.size(), "candidate"));
}

CollectiveResult& series_of(ShapeResult& result, const Cell& cell) {
    const auto found = std::ranges::find_if(result.collectives, [&cell](const CollectiveResult& series) {
        return series.collective == cell.collective && series.wire == cell.wire && series.memory == cell.memory;
    });
    return found != result.collectives.end()
               ? *found
               : result.collectives.emplace_back(CollectiveResult{cell.collective, cell.wire, {}, cell.memory});
}

}  // namespace

std::string to_string(const Cell& cell) {
    std::string text = to_string(cell.shape) + ", " + comm::to_string(cell.collective);
    if (cell.wire != Wire::exact) {
        text += std::string(" on ") + comm::to_string(cell.wire);
    }
    if (cell.memory == comm::MemoryKind::device) {
        text += " of device memory";
    }
    return text + ", " + mastic::to_string(cell.size);
}

std::vector<Cell> cells_of(std::span<const GroupShape> shapes, const SweepOptions& options) {
    std::vector<Cell> cells;
    const auto add_sizes = [&](Cell cell) {
        for (const Bytes size : options.sizes) {
            cell.size = size;
            cells.push_back(cell);
        }
    };
    for (const GroupShape& shape : shapes) {
        for (const comm::MemoryKind memory : options.memories) {
            for (const Collective collective : options.collectives) {
                add_sizes({shape, collective, Wire::exact, Bytes{0}, memory});
                for (const Wire wire : options.wires) {
                    if (collective == Collective::allreduce) {
                        add_sizes({shape, collective, wire, Bytes{0}, memory});
                    }
                }
            }
        }
    }
    return cells;
}

std::vector<Bytes> sizes_between(Bytes smallest, Bytes largest, double factor) {
    std::vector<Bytes> sizes;
    for (double size = static_cast<double>(smallest.count); size <= static_cast<double>(largest.count);
         size *= factor) {
        sizes.push_back(Bytes{static_cast<std::uint64_t>(size)});
    }
    return sizes;
}

CellResult measure_cell(Measurement& measurement, comm::Group& group, const Cell& cell,
                        const SweepOptions& options, const SizeResult* smaller, Seconds allotted) {
    std::vector<Choice> choices =
        candidates(cell.collective, cell.wire, cell.shape, cell.size, options.limits);
    return CellRace(measurement, group, cell, options)
        .run(in_order_of_promise(std::move(choices), smaller), allotted);
}

ShapeSweep sweep_shape(Measurement& measurement, comm::Group& group, std::span<const Cell> cells,
                       std::size_t first_cell, const TimePlan& time, const SweepOptions& options) {
    ShapeSweep sweep;
    sweep.result.shape = cells.front().shape;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Cell& cell = cells[i];
        const Seconds allotted = time.allotted(first_cell + i, measurement.elapsed());
        if (allotted <= Seconds{0}) {
            sweep.notes.push_back(to_string(cell) + ": not measured, no time was left");
            continue;
        }
        CollectiveResult& series = series_of(sweep.result, cell);
        const SizeResult* smaller = series.sizes.empty() ? nullptr : &series.sizes.back();
        const CellResult result = measure_cell(measurement, group, cell, options, smaller, allotted);
        if (group.rank() == 0) {
            report(cell, result);
        }
        sweep.wrong += static_cast<int>(result.wrong.size());
        for (const Choice& choice : result.wrong) {
            sweep.notes.push_back(to_string(cell) + ": " + comm::to_string(choice) + " gave a wrong result");
        }
        if (result.untried > 0) {
            sweep.notes.push_back(to_string(cell) + ": no time for " +
                                  plural(static_cast<std::size_t>(result.untried), "candidate"));
        }
        if (result.measured) {
            series.sizes.push_back(*result.measured);
        }
    }
    std::erase_if(sweep.result.collectives,
                  [](const CollectiveResult& series) { return series.sizes.empty(); });
    for (CollectiveResult& series : sweep.result.collectives) {
        set_limits(series.sizes);
    }
    return sweep;
}

}  // namespace mastic::tuning
