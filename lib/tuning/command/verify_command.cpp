// mastic-tune verify: the choices of a table against all candidates, at sizes between those that were measured.
#include <cstdio>
#include <set>

#include <spdlog/spdlog.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/tuning/command/job_ranks.hpp>
#include <mastic/tuning/sweep.hpp>
#include <mastic/tuning/verification.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;

class Verification {
  public:
    Verification(const CommandContext& context, JobRanks& ranks) : context_(context), ranks_(ranks) {}

    int run() {
        comm::run_together(ranks_.control(), [this] {
            table_ = TuningTable::load(context_.invocation.positionals.at(0));
            table_.require_machine(this_machine(comm::mpi_library_version()));
        });
        if (ranks_.whole().ranks() < 2) {
            throw AgreedError(
                Error(ExitCode::usage, "one rank alone has nothing to verify",
                      "start as many as the table has rows for: mpiexec -n 4 mastic-tune verify ..."));
        }
        tuned_ = table_.selection_for(ranks_.whole());
        if (!tuned_.selection) {
            throw AgreedError(Error(ExitCode::data, "the table says nothing about this job: " + tuned_.note,
                                    "start it in a shape that the table has: mastic-tune show lists them"));
        }
        part_ = ranks_.part(ranks_.whole());
        comm::run_together(ranks_.control(), [this] {
            if (!part_.measured) {
                throw Error(ExitCode::usage, "not all nodes have the same number of ranks",
                            "start equally many on each");
            }
        });
        return judge();
    }

  private:
    std::vector<Cell> cells() const {
        std::set<std::uint64_t> measured;
        for (const ShapeResult& result : table_.shapes) {
            for (const CollectiveResult& series : result.collectives) {
                for (const SizeResult& size : series.sizes) {
                    measured.insert(size.bytes.count);
                }
            }
        }
        std::vector<Bytes> sizes;
        for (const std::uint64_t size : measured) {
            sizes.push_back(Bytes{size});
        }
        SweepOptions options;
        for (const std::string& name : context_.options.collectives) {
            options.collectives.push_back(comm::parse_collective(name));
        }
        options.sizes = held_out_sizes(sizes);
        const std::vector<GroupShape> shapes = {ranks_.whole()};
        return cells_of(shapes, options);
    }

    int judge() {
        Measurement measurement(*part_.measured, *part_.agreement, comm::Clock::now());
        const std::vector<Cell> all = cells();
        std::vector<double> weights;
        for (const Cell& cell : all) {
            weights.push_back(cell_weight(cell.collective, cell.size));
        }
        const TimePlan time(std::move(weights), context_.options.time());
        std::vector<Finding> findings;
        int skipped = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Choice* choice = tuned_.selection->find(all[i].collective, all[i].size);
            const Seconds allotted = time.allotted(i, measurement.elapsed());
            if (choice == nullptr || allotted <= Seconds{0}) {
                ++skipped;
                continue;
            }
            findings.push_back(examine(measurement, all[i], *choice, allotted));
        }
        return tell(findings, skipped);
    }

    // The best is found in a race of its own, and then compared afresh: the smallest of many medians would flatter it.
    Finding examine(Measurement& measurement, const Cell& cell, const Choice& choice, Seconds allotted) {
        SweepOptions options;
        options.limits = candidate_limits(context_.options, ranks_.transports());
        options.rules.most = context_.options.repetitions;
        const CellResult race =
            measure_cell(measurement, *part_.measured, cell, options, nullptr, allotted / 2);
        Finding finding{cell.collective,
                        cell.size,
                        choice,
                        race.measured ? race.measured->chosen().choice : choice,
                        {},
                        {}};
        const std::vector<Choice> sides = {choice, finding.best, library_default(cell.collective, cell.size)};
        const std::vector<std::vector<double>> times = duel(measurement, cell, sides);
        finding.to_best = finding.best == choice ? Ratio{} : ratio_of(times[0], times[1]);
        finding.to_default = ratio_of(times[0], times[2]);
        return finding;
    }

    std::vector<std::vector<double>> duel(Measurement& measurement, const Cell& cell,
                                          const std::vector<Choice>& sides) {
        Workload workload(*part_.measured, cell.collective, cell.size);
        std::vector<int> operations;
        for (const Choice& side : sides) {
            const Measurement::Trial trial = measurement.try_out(workload, side);
            if (!trial.possible || !trial.right) {
                throw AgreedError(
                    Error(trial.possible ? ExitCode::collective : ExitCode::environment,
                          to_string(cell) + ": " + comm::to_string(side) +
                              (trial.possible ? " gives a wrong result" : " is not possible here"),
                          "tune this machine anew: mastic-tune run"));
            }
            operations.push_back(operations_for(trial.us));
        }
        std::vector<std::vector<double>> times(sides.size());
        for (int repetition = 0; repetition < context_.options.repetitions; ++repetition) {
            const std::vector<double> once = measurement.repeat(workload, sides, operations);
            for (std::size_t i = 0; i < sides.size(); ++i) {
                times[i].push_back(once[i]);
            }
        }
        return times;
    }

    int tell(const std::vector<Finding>& findings, int skipped) const {
        const auto broken =
            std::ranges::count_if(findings, [](const Finding& finding) { return !finding.holds(); });
        if (ranks_.first()) {
            std::printf("%s\n%s", tuned_.note.c_str(), findings_text(findings).c_str());
            std::printf(
                "%zu of %zu choices hold: at most %.0f %% slower than the best and not slower than MPI's "
                "own, by "
                "the lower quartile of the ratios\n",
                findings.size() - static_cast<std::size_t>(broken), findings.size(), 100 * (near_best - 1));
            if (skipped > 0) {
                std::printf("%d not examined: no time was left or the table says nothing\n", skipped);
            }
        }
        return static_cast<int>(ranks_.from_first(static_cast<double>(broken)) > 0 ? ExitCode::data
                                                                                   : ExitCode::done);
    }

    const CommandContext& context_;
    JobRanks& ranks_;
    TuningTable table_;
    TunedSelection tuned_;
    RankPart part_;
};

}  // namespace

void verify_command(const CommandContext& context) {
    with_ranks(context,
               [](const CommandContext& given, JobRanks& ranks) { return Verification(given, ranks).run(); });
}

}  // namespace mastic::tuning
