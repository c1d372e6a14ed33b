// mastic-tune export: which of MPICH's own allreduce algorithms is the fastest at which size, as settings for MPICH.
#include <iostream>

#include <spdlog/spdlog.h>

#include <mastic/comm/mpi/control_variable.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/report/text_table.hpp>
#include <mastic/tuning/command/job_ranks.hpp>
#include <mastic/tuning/command/selection_proof.hpp>
#include <mastic/tuning/mpich_selection.hpp>
#include <mastic/tuning/sweep.hpp>
#include <mastic/tuning/time_text.hpp>

namespace mastic::tuning {
namespace {

constexpr const char* variable_name = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM";

class Export {
  public:
    Export(const CommandContext& context, JobRanks& ranks) : context_(context), ranks_(ranks) {}

    int run() {
        variable_ = comm::ControlVariable::find(variable_name);
        if (!variable_ || !comm::mpi_library_version().starts_with("MPICH 4.0")) {
            throw AgreedError(
                Error(ExitCode::environment,
                      "export knows the settings of MPICH 4.0, and this is " + comm::mpi_library_version(),
                      "the table of `mastic-tune run` works with any"));
        }
        if (!ranks_.has(ranks_.whole()) || ranks_.whole().ranks() < 2) {
            throw AgreedError(Error(ExitCode::usage, "export needs several ranks, equally many on each node",
                                    "start it so"));
        }
        for (const MpichAlgorithm& algorithm : mpich_algorithms()) {
            const bool smp = algorithm.name == std::string("smp");
            if (!smp || (ranks_.whole().nodes > 1 && ranks_.whole().ranks_per_node > 1)) {
                algorithms_.push_back(&algorithm);
            }
        }
        measure();
        comm::run_on_first(ranks_.control(), [this] {
            write();
            return std::string();
        });
        return 0;
    }

  private:
    void measure() {
        part_ = ranks_.part(ranks_.whole());
        Measurement measurement(*part_.measured, *part_.agreement, comm::Clock::now());
        const std::vector<Bytes> sizes =
            sizes_between(context_.options.smallest, context_.options.largest, context_.options.factor);
        std::vector<double> weights;
        for (const Bytes size : sizes) {
            weights.push_back(cell_weight(comm::Collective::allreduce, size));
        }
        const TimePlan time(std::move(weights), context_.options.time());
        const int before = variable_->read();
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const Seconds allotted = time.allotted(i, measurement.elapsed());
            if (allotted > Seconds{0}) {
                measure_size(measurement, sizes[i], allotted);
            }
        }
        variable_->write(before);
    }

    // The library reads the variable at each call.
    void measure_size(Measurement& measurement, Bytes size, Seconds allotted) {
        const Seconds end = measurement.elapsed() + allotted;
        Workload workload(*part_.measured, comm::Collective::allreduce, size);
        const comm::Choice choice = library_allreduce();
        std::vector<int> operations;
        for (const MpichAlgorithm* algorithm : algorithms_) {
            variable_->write(algorithm->value);
            const Measurement::Trial trial = measurement.try_out(workload, choice);
            if (!trial.right) {
                throw AgreedError(Error(ExitCode::collective,
                                        std::string("MPICH's ") + algorithm->name + " gives a wrong result"));
            }
            operations.push_back(operations_for(trial.us));
        }
        RaceRules rules;
        rules.most = context_.options.repetitions;
        Race race(algorithms_.size(), rules);
        for (int repetition = 0; repetition < 2 || (!race.is_over() && measurement.elapsed() < end);
             ++repetition) {
            std::vector<double> times(algorithms_.size());
            for (std::size_t i = 0; i < algorithms_.size(); ++i) {
                if (race.is_running(i)) {
                    variable_->write(algorithms_[i]->value);
                    times[i] =
                        measurement.repeat(workload, std::span(&choice, 1), std::span(&operations[i], 1))
                            .front();
                    operations[i] = operations_for(times[i]);
                }
            }
            race.add(times);
        }
        add_row(size, race);
    }

    static comm::Choice library_allreduce() {
        return {.transport = comm::TransportKind::native, .algorithm = "native-blocking"};
    }

    void add_row(Bytes size, const Race& race) {
        const MpichAlgorithm* best = algorithms_[race.leader()];
        const Timing timing = timing_of(race.times_us(race.leader()));
        const Timing automatic = timing_of(race.times_us(0));
        lines_.push_back({mastic::to_string(size), best->name, time_text(timing.median_us),
                          time_text(automatic.median_us)});
        votes_.push_back(best);
        if (!rows_.empty() && rows_.back().algorithm == best) {
            rows_.back().up_to = Bytes{size.count * 2};
        } else {
            rows_.push_back({Bytes{size.count * 2}, best});
        }
    }

    // Rank 0's part.
    void write() const {
        std::cout << report::to_text({{"size", "best", "time", "time of auto"}, lines_});
        const auto& arguments = context_.invocation.positionals;
        if (context_.options.format == "mpich-env") {
            const std::string text = environment_lines();
            if (!arguments.empty()) {
                write_file_atomically(arguments[0], text);
            }
            std::cout << text;
            return;
        }
        const std::string selection = mpich_selection(comm::builtin_selection_table(), rows_);
        const std::filesystem::path out =
            std::filesystem::absolute(arguments.empty() ? "mpich.json" : arguments[0]);
        write_file_atomically(out, selection);
        const std::string proof = prove_selection(out, selection);
        std::cout << "wrote " << out.string()
                  << "; set MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" << out.string() << "\n"
                  << proof << "\n";
    }

    // One algorithm for all sizes: the one that won most of them, the largest first among equals.
    std::string environment_lines() const {
        const MpichAlgorithm* best = votes_.back();
        for (const MpichAlgorithm* algorithm : algorithms_) {
            if (std::ranges::count(votes_, algorithm) > std::ranges::count(votes_, best)) {
                best = algorithm;
            }
        }
        return std::string("export ") + variable_name + "=" + best->name + "\n";
    }

    const CommandContext& context_;
    JobRanks& ranks_;
    RankPart part_;
    std::optional<comm::ControlVariable> variable_;
    std::vector<const MpichAlgorithm*> algorithms_;  // the first is auto
    std::vector<MpichRow> rows_;
    std::vector<const MpichAlgorithm*> votes_;  // by size
    std::vector<std::vector<std::string>> lines_;
};

}  // namespace

void export_command(const CommandContext& context) {
    with_ranks(context,
               [](const CommandContext& given, JobRanks& ranks) { return Export(given, ranks).run(); });
}

}  // namespace mastic::tuning
