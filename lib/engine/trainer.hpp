// The step loop: takes the parts that a training consists of and runs them until the run is done or has to stop.
// Composition only; what a part does is written in its own folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/trace.hpp>
#include <mastic/data/batch_loader.hpp>
#include <mastic/engine/applied_step.hpp>
#include <mastic/engine/checkpointer.hpp>
#include <mastic/engine/control_word.hpp>
#include <mastic/engine/evaluator.hpp>
#include <mastic/engine/fault_injection.hpp>
#include <mastic/engine/share_balancer.hpp>
#include <mastic/engine/step_costs.hpp>
#include <mastic/engine/step_times.hpp>
#include <mastic/engine/front/train_options.hpp>
#include <mastic/engine/pending_work.hpp>
#include <mastic/engine/train_state.hpp>
#include <mastic/gradient/buffer_average.hpp>
#include <mastic/gradient/gradient_reducer.hpp>
#include <mastic/job/deadline.hpp>
#include <mastic/job/signals.hpp>
#include <mastic/optimizer/learning_rate_schedule.hpp>
#include <mastic/report/metrics.hpp>
#include <mastic/report/progress.hpp>

namespace mastic::engine {

// What an elastic run adds to the steps.
class StepMembership {
  public:
    virtual ~StepMembership() = default;
    // Once, when the ranks have agreed on all that they do together: a newcomer may have to wait for the state. Throws as a step.
    virtual void begin() = 0;
    // Rank 0's part of the control word: the generation that waits to take effect.
    virtual std::int64_t next_generation() = 0;
    // True once, at rank 0, after somebody has asked for a checkpoint.
    virtual bool take_checkpoint_wish() = 0;
    // This process is to go (a signal, its time limit) while others stay.
    virtual void leave(job::StopReason reason) = 0;
    // This process is alone and asked to stop: true if others come after the step that agreed on this generation. Then they go on,
    // and this one leaves when they have begun, since a newcomer may still need its last step.
    virtual bool hands_over(std::int64_t agreed_generation, job::StopReason reason) = 0;
    // The update of a step has been made from `gradients`.
    virtual void applied(std::shared_ptr<const gradient::FlatGradients> gradients, const AppliedStep& step,
                         std::int64_t agreed_generation) = 0;
    // After everything else in the step. True, on all ranks: they do no further step together.
    virtual bool ends_after(std::int64_t agreed_generation) = 0;
    // What a process that has come to lead the run now saves and shows with; none: it does not lead, or did so before.
    struct Lead {
        Checkpointer* checkpointer;
        report::Progress* progress;
        std::chrono::steady_clock::time_point started;
    };
    virtual std::optional<Lead> take_lead() = 0;
};

// What the trainer works with; all of it outlives the trainer. `metrics`, `progress` are empty where nobody looks.
struct TrainerParts {
    const TrainOptions& options;
    comm::Group& group;
    std::shared_ptr<const data::Dataset> train_data;
    Evaluator* evaluator = nullptr;  // null: no test data
    TrainState& state;
    model::LossKind loss_kind;
    ArithmeticFacts arithmetic;  // stored in checkpoints
    const optimizer::LearningRateSchedule& schedule;
    Checkpointer* checkpointer;
    job::SignalWatch& signals;
    job::StopPlanner& stop_planner;
    FaultInjection& faults;
    Trace& trace;
    job::FlightRecorder& recorder;
    std::function<void(const report::MetricsRecord&)> metrics;
    report::Progress* progress = nullptr;
    StepMembership* membership = nullptr;  // null: the ranks stay the same
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();  // for times in metrics
    StepCosts* costs = nullptr;  // of these ranks; null: nothing is known from before
    PendingWork* pending = nullptr;  // of these ranks; null: nothing is left from before
    bool evaluate_first = false;     // on all ranks: the evaluation after the last step was broken off
    std::vector<bool> late_ranks{};  // get no samples in the first step; empty: none
};

struct TrainResult {
    ExitCode code = ExitCode::done;
    std::string reason;  // "finished", "SIGTERM", "time limit"
    double loss = 0.0;   // of the last step
    std::optional<Evaluation> evaluation;  // the last one of this start
    bool ranks_changed = false;            // the steps go on with other ranks; nothing else says anything
};

class Trainer {
  public:
    explicit Trainer(TrainerParts parts);
    ~Trainer();

    // Returns when all epochs are done or a stop was agreed on; the last state is durable by then. Throws
    // Error(non_finite), Error(collective), Error(io) as the parts do.
    TrainResult run();

    // Whether this step is written to the metrics; the last one is in any case.
    static bool is_recorded(std::int64_t step, const TrainOptions& options);
    // Samples that the whole run will have seen at its end.
    static std::uint64_t planned_samples(const TrainOptions& options, std::uint64_t dataset_size);

  private:
    void start_loader();
    bool epoch_ended() const;
    bool finished() const;
    void take_lead();
    void reserve_for_saves();
    PhaseTimer timed(Seconds& target, std::string_view phase);
    StepAgreement step();
    void forward_backward(const data::LoadedBatch& loaded);
    void start_agreement(double loss_sum, double weight);
    void apply_update(const StepAgreement& agreed);
    bool after_step(const StepAgreement& agreed);
    bool evaluate_and_save(const StepAgreement& agreed);
    void save(bool best);
    void record_step(const StepAgreement& agreed);
    void record_event(const std::string& kind, const std::string& text);
    void balance();
    bool evaluate();  // true if the result is the best so far

    StepCosts own_costs_;  // where parts_ brings none
    PendingWork own_pending_;
    TrainerParts parts_;
    StepCosts& costs_;
    PendingWork& pending_;
    const std::uint64_t global_batch_;
    const double rate_factor_;
    std::optional<ShareBalancer> balancer_;
    std::unique_ptr<data::BatchLoader> loader_;
    gradient::GradientReducer reducer_;
    gradient::BufferAverage buffers_;
    ControlWord control_;
    StepTimes times_;
    TrainResult result_;
    double learning_rate_ = 0.0;
    std::uint64_t step_samples_ = 0;  // of the last step, over all ranks
};

}  // namespace mastic::engine
