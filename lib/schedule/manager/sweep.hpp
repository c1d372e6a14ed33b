// Many trials of one training: lines of further arguments, and which trials are worth going on with.
//
// Successive halving (Jamieson and Talwalkar 2016): of n trials, of which K shall run to the end, the better half goes on at
// each rung until K are left. With h = ceil(log2(n / K)) rungs, rung i of 1..h lies at 2^(i-1-h) of the planned samples
// and leaves max(K, ceil(n / 2^i)) trials. Trials are compared at the samples of the rung, so a trial that had more nodes
// has no advantage.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/report/metrics.hpp>
#include <mastic/schedule/manager/training_order.hpp>
#include <mastic/schedule/manager/training_record.hpp>

namespace mastic::schedule {

struct Trial {
    std::size_t line = 0;  // of the file, from 1
    std::vector<std::string> arguments;
};

// One trial a line, as slurm/train-array.sbatch reads them: words between blanks. Empty lines and those that begin with '#'
// are none. Throws Error(usage) with FILE:LINE for a line that sets its run directory, and if there is no trial.
std::vector<Trial> parse_sweep(std::string_view text, const std::string& name);

// An order for each trial: run directory RUN_DIR/LINE (runs/SWEEP/LINE if the order names none), name SWEEP-LINE.
std::vector<TrainingOrder> sweep_orders(const TrainingOrder& base, const std::vector<Trial>& trials,
                                        const std::string& sweep, int keep_best);

struct Score {
    std::string metric;  // "accuracy", "loss"
    double value = 0;
    bool better_than(const Score& other) const;  // of the same metric; a loss that is not finite is worst
};

// Of the newest evaluation up to so many samples (the first of accuracy, loss); without one, the mean training loss over the
// quarter of the samples before. Empty: nothing to judge by.
std::optional<Score> score_at(const report::Metrics& metrics, std::int64_t samples);

struct TrialView {
    std::string id;
    TrainingState state = TrainingState::queued;
    std::int64_t samples = 0;
    std::int64_t planned_samples = 0;          // 0: not known yet
    std::function<report::Metrics()> metrics;  // only called when a rung is decided
};

struct Verdict {
    enum class Kind {
        go_on,
        wait,  // it has reached the rung; its nodes are better used by those that have not
        stop,
    };
    Kind kind = Kind::go_on;
    std::string reason;
};

// One for each trial, in their order. `keep_best` 0: all go on.
std::vector<Verdict> judge_sweep(const std::vector<TrialView>& trials, int keep_best);

}  // namespace mastic::schedule
