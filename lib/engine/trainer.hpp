// The step loop: takes the parts that a training consists of and runs them until the run is done or has to stop.
// Composition only; what a part does is written in its own folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <mastic/comm/group.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/trace.hpp>
#include <mastic/data/batch_loader.hpp>
#include <mastic/engine/checkpointer.hpp>
#include <mastic/engine/control_word.hpp>
#include <mastic/engine/evaluator.hpp>
#include <mastic/engine/fault_injection.hpp>
#include <mastic/engine/step_times.hpp>
#include <mastic/engine/train_options.hpp>
#include <mastic/engine/train_state.hpp>
#include <mastic/gradient/buffer_average.hpp>
#include <mastic/gradient/gradient_reducer.hpp>
#include <mastic/job/deadline.hpp>
#include <mastic/job/signals.hpp>
#include <mastic/optimizer/learning_rate_schedule.hpp>
#include <mastic/report/metrics.hpp>
#include <mastic/report/progress.hpp>

namespace mastic::engine {

// What the trainer works with; all of it outlives the trainer. `metrics`, `progress` are rank 0's, null elsewhere.
struct TrainerParts {
    const TrainOptions& options;
    comm::Group& group;
    std::shared_ptr<const data::Dataset> train_data;
    Evaluator* evaluator = nullptr;  // null: no test data
    TrainState& state;
    model::LossKind loss_kind;
    ArithmeticFacts arithmetic;  // stored in checkpoints
    const optimizer::LearningRateSchedule& schedule;
    Checkpointer& checkpointer;
    job::SignalWatch& signals;
    job::StopPlanner& stop_planner;
    FaultInjection& faults;
    Trace& trace;
    job::FlightRecorder& recorder;
    report::MetricsWriter* metrics = nullptr;
    report::Progress* progress = nullptr;
};

struct TrainResult {
    ExitCode code = ExitCode::done;
    std::string reason;  // "finished", "SIGTERM", "time limit"
    double loss = 0.0;   // of the last step
    std::optional<Evaluation> evaluation;  // the last one of this start
};

class Trainer {
  public:
    explicit Trainer(TrainerParts parts);
    ~Trainer();

    // Returns when all epochs are done or a stop was agreed on; the last state is durable by then. Throws
    // Error(non_finite), Error(collective), Error(io) as the parts do.
    TrainResult run();

    // Samples that the whole run will have seen at its end.
    static std::uint64_t planned_samples(const TrainOptions& options, std::uint64_t dataset_size);

  private:
    bool finished() const;
    PhaseTimer timed(Seconds& target, std::string_view phase);
    StepAgreement step();
    void forward_backward(const data::LoadedBatch& loaded);
    void start_agreement(double loss_sum, double weight);
    void apply_update(const StepAgreement& agreed);
    bool after_step(const StepAgreement& agreed);
    void save(bool best);
    void record_step(const StepAgreement& agreed);
    bool evaluate();  // true if the result is the best so far

    TrainerParts parts_;
    std::unique_ptr<data::BatchLoader> loader_;
    gradient::GradientReducer reducer_;
    gradient::BufferAverage buffers_;
    ControlWord control_;
    StepTimes times_;
    TrainResult result_;
    double learning_rate_ = 0.0;
    bool epoch_ended_ = false;
    bool save_due_ = false;
    std::uint64_t step_samples_ = 0;  // of the last step, over all ranks
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point last_save_;
};

}  // namespace mastic::engine
