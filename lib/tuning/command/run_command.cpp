// mastic-tune run: from the ranks of a job to a table.
#include <chrono>

#include <spdlog/spdlog.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/report/run_record.hpp>
#include <mastic/tuning/command/job_ranks.hpp>
#include <mastic/tuning/sweep.hpp>

namespace mastic::tuning {
namespace {

class Run {
  public:
    Run(const CommandContext& context, JobRanks& ranks)
        : context_(context), ranks_(ranks), options_(sweep_options()) {
        choose_shapes();
        cells_ = cells_of(shapes_, options_);
        table_.machine = ranks.machine();
        table_.created = report::to_string(report::Time(
            std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now())));
    }

    int run() {
        require_work();
        if (context_.invocation.dry_run) {
            describe();
            return 0;
        }
        std::vector<double> weights;
        for (const Cell& cell : cells_) {
            weights.push_back(cell_weight(cell.collective, cell.size));
        }
        const TimePlan time(std::move(weights), context_.options.time());
        const std::size_t cells_per_shape = cells_.size() / shapes_.size();
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            measure(shapes_[i], std::span(cells_).subspan(i * cells_per_shape, cells_per_shape),
                    i * cells_per_shape, time);
        }
        return finish();
    }

  private:
    SweepOptions sweep_options() const {
        const TuneOptions& given = context_.options;
        SweepOptions options;
        for (const std::string& name : given.collectives) {
            options.collectives.push_back(comm::parse_collective(name));
        }
        for (const std::string& name : given.wire) {
            options.wires.push_back(comm::parse_wire(name));
        }
        options.sizes = sizes_between(given.smallest, given.largest, given.factor);
        options.limits = candidate_limits(given, ranks_.transports());
        options.rules.most = given.repetitions;
        options.memories.clear();
        for (const std::string& name : given.memory) {
            options.memories.push_back(name == "device" ? comm::MemoryKind::device : comm::MemoryKind::host);
        }
        options.device = ranks_.device();
        return options;
    }

    void choose_shapes() {
        const GroupShape& whole = ranks_.whole();
        for (const GroupShape& shape :
             context_.options.shapes == "all" ? shapes_within(whole) : std::vector{whole}) {
            if (ranks_.has(shape)) {
                shapes_.push_back(shape);
            } else {
                table_.notes.push_back(to_string(shape) + ": not measured, not all nodes have so many ranks");
            }
        }
    }

    void require_work() const {
        if (ranks_.whole().ranks() < 2 || shapes_.empty()) {
            throw AgreedError(Error(ExitCode::usage, "one rank alone has nothing to tune",
                                    "start several: mpiexec -n 4 mastic-tune run, or srun"));
        }
        if (cells_.empty()) {
            throw AgreedError(Error(ExitCode::usage, "there is nothing to measure: no size or no collective",
                                    "--tune.smallest must not exceed --tune.largest"));
        }
        comm::run_on_first(ranks_.control(), [this] {
            const std::filesystem::path parent =
                std::filesystem::absolute(context_.options.output).parent_path();
            if (!std::filesystem::is_directory(parent)) {
                throw Error(ExitCode::io, "there is no directory " + parent.string(),
                            "make it, or choose another --tune.output");
            }
            return std::string();
        });
    }

    void describe() const {
        if (!ranks_.first()) {
            return;
        }
        for (const GroupShape& shape : shapes_) {
            std::size_t candidates_of_shape = 0;
            for (const Cell& cell : cells_) {
                if (cell.shape == shape) {
                    candidates_of_shape +=
                        candidates(cell.collective, cell.wire, cell.shape, cell.size, options_.limits).size();
                }
            }
            spdlog::info("{}: {} candidates at {} sizes", to_string(shape), candidates_of_shape,
                         options_.sizes.size());
        }
        spdlog::info("dry run: nothing was measured or written; it would take at most about {} and write {}",
                     human(context_.options.time()), context_.options.output);
    }

    void measure(const GroupShape& shape, std::span<const Cell> cells, std::size_t first_cell,
                 const TimePlan& time) {
        RankPart part = ranks_.part(shape);
        if (part.measured) {
            Measurement measurement(*part.measured, *part.agreement, start_);
            if (ranks_.first()) {
                spdlog::info("{}: {}", to_string(shape), part.measured->description());
            }
            ShapeSweep sweep = sweep_shape(measurement, *part.measured, cells, first_cell, time, options_);
            wrong_ += sweep.wrong;
            table_.notes.insert(table_.notes.end(), sweep.notes.begin(), sweep.notes.end());
            if (!sweep.result.collectives.empty()) {
                table_.shapes.push_back(std::move(sweep.result));
            }
        }
        ranks_.meet();
        // After each shape, so that a job that ends early leaves what it knows.
        comm::run_on_first(ranks_.control(), [this] {
            save();
            return std::string();
        });
    }

    void save() {
        table_.links = fit_links(cost_samples(table_.shapes));
        table_.save(context_.options.output);
    }

    int finish() {
        if (ranks_.first()) {
            for (const std::string& note : table_.notes) {
                spdlog::warn("{}", note);
            }
            for (const LinkFit& link : table_.links) {
                spdlog::info(
                    "{} {}: alpha {:.2f} us, {:.2f} GB/s, reduction {:.2f} GB/s; typical error {:.0f} %",
                    comm::to_string(link.transport), to_string(link.level), link.cost.alpha_us,
                    1e-3 / link.cost.beta_us_per_byte, 1e-3 / link.cost.gamma_us_per_byte,
                    100 * link.typical_error);
            }
            spdlog::info("wrote {} after {}; `mastic-tune report {}` draws it", context_.options.output,
                         human(Seconds(comm::Clock::now() - start_)), context_.options.output);
        }
        const bool wrong = ranks_.from_first(wrong_) > 0;
        return static_cast<int>(wrong ? ExitCode::collective : ExitCode::done);
    }

    const CommandContext& context_;
    JobRanks& ranks_;
    comm::Clock::time_point start_ = comm::Clock::now();
    SweepOptions options_;
    std::vector<GroupShape> shapes_;
    std::vector<Cell> cells_;
    TuningTable table_;
    int wrong_ = 0;
};

}  // namespace

void run_command(const CommandContext& context) {
    with_ranks(context, [](const CommandContext& given, JobRanks& ranks) { return Run(given, ranks).run(); });
}

}  // namespace mastic::tuning
