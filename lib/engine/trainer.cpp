#include <mastic/engine/trainer.hpp>

#include <torch/torch.h>

#include <cmath>

#include <spdlog/spdlog.h>

#include <mastic/core/agreed_error.hpp>
#include <mastic/core/random.hpp>
#include <mastic/data/share_schedule.hpp>
#include <mastic/engine/autocast.hpp>
#include <mastic/engine/batch_scaling.hpp>
#include <mastic/engine/batch_tensors.hpp>
#include <mastic/engine/data_setup.hpp>
#include <mastic/engine/reduction_group.hpp>
#include <mastic/optimizer/gradient_clipping.hpp>

namespace mastic::engine {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Seconds span) { return span.count() * 1e3; }

gradient::ReducerOptions reducer_options(const AllreduceSection& allreduce, job::FlightRecorder& recorder) {
    gradient::ReducerOptions options;
    options.buckets = bucket_options(allreduce);
    options.on_wait = [&recorder](std::string_view bucket) { recorder.enter(bucket); };
    options.overlap = allreduce.overlap;
    return options;
}

// Ranks of MPI stay as many as they are.
BatchScaling scaling_of(const TrainerParts& parts) {
    return parts.membership != nullptr ? parse_batch_scaling(parts.options.elastic.scaling) : BatchScaling::none;
}

data::DistributedSampler sampler_at(const TrainOptions& options, std::uint64_t global_batch, std::uint64_t size,
                                    data::SamplerPosition position) {
    data::DistributedSampler sampler(size, global_batch, static_cast<std::uint64_t>(options.run.seed), options.data.shuffle);
    sampler.set_position(position);
    return sampler;
}

data::PlanSource plans_without(const std::vector<bool>& late_ranks, const data::DistributedSampler& sampler, const comm::Group& group) {
    if (late_ranks.empty()) {
        return data::endless_plans(sampler, group.rank(), group.size());
    }
    const auto schedule = std::make_shared<data::ShareSchedule>(
        data::equal_shares(sampler.global_batch(), static_cast<std::size_t>(group.size())));
    schedule->leave_out_of_first_step(late_ranks);
    return data::shared_plans(sampler, group.rank(), schedule);
}

// Gradients are the same on all ranks after the reduction, so every rank comes to the same answer. One pass over
// memory: a NaN or an infinity anywhere makes the sum of squares one.
bool all_finite(const std::vector<torch::Tensor>& flats) {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& flat : flats) {
        if (!std::isfinite(flat.dot(flat).item<double>())) {
            return false;
        }
    }
    return true;
}

}  // namespace

Trainer::Trainer(TrainerParts parts)
    : parts_(std::move(parts)),
      costs_(parts_.costs != nullptr ? *parts_.costs : own_costs_),
      pending_(parts_.pending != nullptr ? *parts_.pending : own_pending_),
      global_batch_(scaled_batch(scaling_of(parts_), static_cast<std::uint64_t>(parts_.options.train.batch_size),
                                 static_cast<std::size_t>(parts_.group.size()))),
      rate_factor_(scaled_rate(scaling_of(parts_), static_cast<std::size_t>(parts_.group.size()))),
      reducer_(model::trainable_parameters(*parts_.state.network), parts_.group, reducer_options(parts_.options.allreduce, parts_.recorder),
               parts_.trace),
      buffers_(parts_.state.network->buffers(), parts_.group),
      control_(parts_.group) {
    if (parts_.options.train.balance == "dlb") {
        balancer_.emplace(parts_.group, global_batch_, static_cast<std::uint64_t>(parts_.options.data.prefetch), costs_, parts_.late_ranks);
    }
}

void Trainer::start_loader() {
    const TrainOptions& options = parts_.options;
    const data::DistributedSampler sampler =
        sampler_at(options, global_batch_, parts_.train_data->size(), parts_.state.position);
    data::LoaderOptions loader;
    loader.depth = static_cast<std::size_t>(options.data.prefetch);
    loader_ = std::make_unique<data::BatchLoader>(
        parts_.train_data, balancer_ ? balancer_->plans(sampler) : plans_without(parts_.late_ranks, sampler, parts_.group),
        augmentation_of(options, parts_.train_data->layout()), parts_.state.position, loader);
}

Trainer::~Trainer() = default;

std::uint64_t Trainer::planned_samples(const TrainOptions& options, std::uint64_t dataset_size) {
    const auto epochs = static_cast<std::uint64_t>(options.train.epochs);
    const auto batch = static_cast<std::uint64_t>(options.train.batch_size);
    const auto max_steps = static_cast<std::uint64_t>(options.train.max_steps);
    const std::uint64_t per_epoch = (dataset_size + batch - 1) / batch;
    if (max_steps == 0 || max_steps >= epochs * per_epoch) {
        return epochs * dataset_size;
    }
    return max_steps / per_epoch * dataset_size + max_steps % per_epoch * batch;
}

bool Trainer::is_recorded(std::int64_t step, const TrainOptions& options) {
    return step % options.output.log_every == 0 || step == 1;
}

bool Trainer::epoch_ended() const {
    return parts_.state.position.consumed == parts_.train_data->size();
}

bool Trainer::finished() const {
    const StepOptions& train = parts_.options.train;
    const std::uint64_t done = parts_.state.position.epoch + (epoch_ended() ? 1 : 0);
    return done >= static_cast<std::uint64_t>(train.epochs) ||
           (train.max_steps > 0 && parts_.state.step >= train.max_steps);
}

TrainResult Trainer::run() {
    if (parts_.membership != nullptr) {
        parts_.membership->begin();
    }
    start_loader();
    reserve_for_saves();
    parts_.state.network->train();
    bool saved = true;
    try {
        if (parts_.evaluate_first) {
            saved = evaluate_and_save({});
        }
        while (!finished() && result_.code == ExitCode::done) {
            const StepAgreement agreed = step();
            saved = after_step(agreed);
            if (parts_.membership != nullptr && parts_.membership->ends_after(agreed.next_generation)) {
                result_.ranks_changed = !finished() && result_.code == ExitCode::done;
                break;
            }
            take_lead();
        }
    } catch (const AgreedError&) {
        parts_.checkpointer->finish();  // what was being saved is from before the error
        throw;
    }
    if (result_.ranks_changed) {
        return result_;
    }
    if (result_.reason.empty()) {
        result_.reason = "finished";
    }
    if (!saved) {
        save(false);
    }
    parts_.recorder.enter("last checkpoint");
    parts_.checkpointer->finish();
    if (parts_.progress != nullptr) {
        parts_.progress->finish();
    }
    return result_;
}

// Memory for the copy of the state, where checkpoints are made while steps go on; a copy at the end alone may take its time.
void Trainer::reserve_for_saves() {
    const CheckpointSection& section = parts_.options.checkpoint;
    const bool keeps_the_best = parts_.evaluator != nullptr && parts_.options.train.eval_every > 0 && !section.best_metric.empty();
    if (section.every_steps > 0 || section.every.count() > 0 || keeps_the_best) {
        parts_.checkpointer->reserve(parts_.state.view(parts_.arithmetic));
    }
}

// Without a word to the other ranks, which go on with their steps meanwhile.
void Trainer::take_lead() {
    const auto lead = parts_.membership != nullptr ? parts_.membership->take_lead() : std::nullopt;
    if (lead) {
        parts_.checkpointer = lead->checkpointer;
        parts_.progress = lead->progress;
        parts_.started = lead->started;
        reserve_for_saves();
    }
}

PhaseTimer Trainer::timed(Seconds& target, std::string_view phase) {
    return {target, parts_.trace, parts_.recorder, phase};
}

StepAgreement Trainer::step() {
    const auto begin = Clock::now();
    balance();  // not at the end of the step before: if a member is lost now, that one is done and recorded
    parts_.recorder.enter("data", parts_.state.step + 1);
    times_ = StepTimes{};
    const data::LoadedBatch* loaded = nullptr;
    {
        const PhaseTimer timer = timed(times_.data, "data");
        loaded = loader_->next();
    }
    torch::manual_seed(CounterRandom::derive(
        CounterRandom::derive(static_cast<std::uint64_t>(parts_.options.run.seed),
                              static_cast<std::uint64_t>(parts_.state.step)),
        static_cast<std::uint64_t>(parts_.group.rank())));
    forward_backward(*loaded);
    times_.exposed_communication = reducer_.finish();
    StepAgreement agreed;
    {
        const PhaseTimer timer = timed(times_.exposed_communication, "wait");
        buffers_.finish();
        agreed = control_.finish();
    }
    apply_update(agreed);
    if (parts_.faults.flips_weight(parts_.state.step)) {
        const torch::NoGradGuard no_grad;
        parts_.state.network->parameters().front().view(-1)[0].add_(1);
    }
    TrainState& state = parts_.state;
    step_samples_ = loaded->plan.global_count;
    state.position = loaded->plan.after;
    state.samples += step_samples_;
    state.step += 1;
    if (parts_.membership != nullptr) {
        parts_.membership->applied(reducer_.hold(), {step_samples_, learning_rate_, agreed.loss, global_batch_, parts_.group.size()},
                                   agreed.next_generation);
    }
    costs_.observe(loaded->batch.count, times_.data + times_.forward + times_.backward);
    result_.loss = agreed.loss;
    times_.total = Clock::now() - begin;
    return agreed;
}

void Trainer::balance() {
    const auto shares = balancer_ ? balancer_->agree() : std::nullopt;
    if (!shares) {
        return;
    }
    std::string text;
    for (const std::uint64_t share : *shares) {
        text += (text.empty() ? "shares of the batch: " : ", ") + std::to_string(share);
    }
    record_event("balance", text);
}

void Trainer::forward_backward(const data::LoadedBatch& loaded) {
    reducer_.begin();
    const auto global_count = static_cast<double>(loaded.plan.global_count);
    const auto count = static_cast<std::int64_t>(loaded.batch.count);
    const std::int64_t wanted = parts_.options.train.micro_batch;
    const std::int64_t micro = wanted > 0 ? wanted : std::max<std::int64_t>(count, 1);
    const data::SampleLayout& layout = parts_.train_data->layout();
    const torch::Device device = model::device_of(*parts_.state.network);
    const BatchTensors tensors = on_device(tensors_of(loaded.batch, layout), device, layout.classes);
    double loss_sum = 0.0;
    for (std::int64_t first = 0; first < count; first += micro) {
        const std::int64_t length = std::min(micro, count - first);
        torch::Tensor loss;
        {
            const PhaseTimer timer = timed(times_.forward, "forward");
            const Autocast autocast(parts_.options.train.precision == "bf16", device);
            const torch::Tensor inputs =
                network_input(tensors.inputs.narrow(0, first, length), parts_.options.train.precision);
            const model::TrainingLoss result = model::training_loss(*parts_.state.network, parts_.loss_kind, inputs,
                                                                    tensors.targets.narrow(0, first, length));
            loss = result.sum / global_count;
            parts_.faults.compute(length);
        }
        loss_sum += loss.item<double>();
        if (parts_.faults.poisons_loss(parts_.state.step)) {
            loss_sum = std::nan("");
        }
        const bool last = first + length == count;
        if (last) {
            start_agreement(loss_sum, static_cast<double>(count) / global_count);
            parts_.faults.before_backward(parts_.state.step);
            reducer_.expect_last_backward();
        }
        const PhaseTimer timer = timed(times_.backward, "backward");
        loss.backward();
    }
    if (count == 0) {
        start_agreement(0.0, 0.0);
    }
}

// The small reductions go first and travel under the backward pass.
void Trainer::start_agreement(double loss_sum, double weight) {
    StepFacts facts;
    facts.loss_sum = loss_sum;
    facts.non_finite = !std::isfinite(loss_sum);
    facts.stop = parts_.signals.stop_reason();
    pending_.save |= parts_.signals.take_checkpoint_request();
    facts.shard_finished = parts_.checkpointer->shard_finished();
    // Ranks of one job have one end, which rank 0 watches; members of an elastic run have ends of their own.
    if (parts_.stop_planner.must_stop(std::chrono::system_clock::now())) {
        facts.stop = job::StopReason::time_limit;
    }
    if (parts_.membership != nullptr && parts_.group.size() > 1 && facts.stop != job::StopReason::none) {
        parts_.membership->leave(facts.stop);
        facts.stop = job::StopReason::none;
    }
    if (parts_.group.rank() == 0) {
        const Seconds every = parts_.options.checkpoint.every;
        facts.checkpoint |= every.count() > 0 && parts_.checkpointer->since_save() >= every && !parts_.checkpointer->in_flight();
    }
    if (parts_.membership != nullptr) {
        facts.next_generation = parts_.membership->next_generation();
        pending_.save |= parts_.membership->take_checkpoint_wish();
    }
    facts.checkpoint |= pending_.save;
    control_.start(facts);
    buffers_.start(weight);
}

void Trainer::apply_update(const StepAgreement& agreed) {
    const PhaseTimer timer = timed(times_.optimizer, "optimizer");
    const std::string where = "in step " + std::to_string(parts_.state.step + 1);
    const char* hint = "a smaller learning rate, clip_norm, or float32 instead of bf16 may help; checkpoints, if there are "
                       "any, are from before this step";
    if (agreed.non_finite_ranks > 0) {
        const std::string who = agreed.non_finite_rank >= 0
                                    ? "on rank " + std::to_string(agreed.non_finite_rank)
                                    : "on " + std::to_string(agreed.non_finite_ranks) + " ranks";
        throw AgreedError(ExitCode::non_finite, "the loss is not finite " + who + " " + where, hint);
    }
    if (!all_finite(reducer_.flat_gradients())) {
        throw AgreedError(ExitCode::non_finite, "a gradient is not finite " + where, hint);
    }
    const double limit = parts_.options.train.clip_norm;
    if (limit > 0) {
        optimizer::clip_by_global_norm(reducer_.flat_gradients(), limit);
    }
    {
        const PhaseTimer stall = timed(times_.checkpoint_stall, "checkpoint stall");
        parts_.checkpointer->wait_copied();  // forward and backward changed nothing that is saved
    }
    parts_.recorder.enter("update");
    learning_rate_ = rate_factor_ * parts_.schedule.rate(parts_.state.samples);
    parts_.state.optimizer->set_learning_rate(learning_rate_);
    parts_.state.optimizer->step();
}

// True if the state after this step is saved, or being saved.
bool Trainer::after_step(const StepAgreement& agreed) {
    parts_.stop_planner.observe_step(times_.total);
    parts_.checkpointer->advance(agreed.shards_finished);
    if (const auto save_time = parts_.checkpointer->last_save_time()) {
        parts_.stop_planner.observe_save(*save_time);
    }
    bool saved = false;
    try {
        saved = evaluate_and_save(agreed);
    } catch (const Error&) {
        record_step(agreed);  // a member may have been lost: the others go on after this step
        throw;
    }
    record_step(agreed);
    const bool stops = agreed.stop != job::StopReason::none && !finished();
    if (stops && (parts_.membership == nullptr || !parts_.membership->hands_over(agreed.next_generation, agreed.stop))) {
        result_.code = ExitCode::requeue;
        result_.reason = job::to_string(agreed.stop);
    }
    return saved;
}

bool Trainer::evaluate_and_save(const StepAgreement& agreed) {
    const TrainState& state = parts_.state;
    const StepOptions& train = parts_.options.train;
    const auto epochs_done = static_cast<std::int64_t>(state.position.epoch + (epoch_ended() ? 1 : 0));
    const bool evaluation_due = parts_.evaluator != nullptr && train.eval_every > 0 &&
                                (finished() || (epoch_ended() && epochs_done % train.eval_every == 0));
    if (evaluation_due) {
        pending_.evaluation = state.step;
    }
    const bool best = evaluation_due && evaluate();
    const std::int64_t every = parts_.options.checkpoint.every_steps;
    pending_.save |= agreed.checkpoint || (every > 0 && state.step % every == 0);
    // An ordinary save waits for the one before it, so that training does not: it is made a few steps later then.
    const bool save_now = best || (pending_.save && !parts_.checkpointer->in_flight());
    if (save_now) {
        save(best);
    }
    pending_.evaluation = -1;
    return save_now;
}

void Trainer::save(bool best) {
    const PhaseTimer timer = timed(times_.checkpoint_stall, "checkpoint stall");
    TrainState& state = parts_.state;
    parts_.faults.before_save(state.step);
    parts_.checkpointer->save({static_cast<std::uint64_t>(state.step), state.samples, best},
                             state.view(parts_.arithmetic));
    pending_.save = false;
    record_event("checkpoint", best ? "best so far" : "");
}

void Trainer::record_event(const std::string& kind, const std::string& text) {
    if (parts_.metrics) {
        report::EventRecord event;
        event.step = parts_.state.step;
        event.time_s = Seconds(Clock::now() - parts_.started).count();
        event.kind = kind;
        event.text = text;
        parts_.metrics(event);
    }
}

void Trainer::record_step(const StepAgreement& agreed) {
    const TrainState& state = parts_.state;
    const auto epoch = static_cast<std::int64_t>(state.position.epoch);
    if (parts_.progress != nullptr) {
        parts_.progress->update(
            {epoch, parts_.options.train.epochs, state.step, static_cast<std::int64_t>(state.samples),
             static_cast<std::int64_t>(planned_samples(parts_.options, parts_.train_data->size())), agreed.loss});
    }
    if (!parts_.metrics || !(is_recorded(state.step, parts_.options) || finished())) {
        return;
    }
    report::StepRecord record;
    record.step = state.step;
    record.epoch = epoch;
    record.samples = static_cast<std::int64_t>(state.samples);
    record.time_s = Seconds(Clock::now() - parts_.started).count();
    record.loss = agreed.loss;
    record.learning_rate = learning_rate_;
    record.samples_per_s = static_cast<double>(step_samples_) / times_.total.count();
    record.step_ms = milliseconds(times_.total);
    record.forward_ms = milliseconds(times_.forward);
    record.backward_ms = milliseconds(times_.backward);
    record.exposed_communication_ms = milliseconds(times_.exposed_communication);
    record.optimizer_ms = milliseconds(times_.optimizer);
    record.checkpoint_stall_ms = milliseconds(times_.checkpoint_stall);
    record.global_batch = static_cast<std::int64_t>(global_batch_);
    record.world_size = parts_.group.size();
    parts_.metrics(record);
}

bool Trainer::evaluate() {
    parts_.recorder.enter("evaluation");
    TrainState& state = parts_.state;
    parts_.faults.before_evaluation(state.step);
    result_.evaluation = parts_.evaluator->run(*state.network);
    const Evaluation& evaluation = *result_.evaluation;
    if (parts_.metrics) {
        report::EvaluationRecord record;
        record.step = state.step;
        record.epoch = static_cast<std::int64_t>(state.position.epoch);
        record.samples = static_cast<std::int64_t>(state.samples);
        record.time_s = Seconds(Clock::now() - parts_.started).count();
        record.split = "test";
        record.loss = evaluation.loss;
        record.metrics = evaluation.metrics;
        record.metrics.erase("loss");  // has a place of its own
        parts_.metrics(record);
    }
    if (parts_.progress != nullptr) {
        parts_.progress->hide();
        spdlog::info("{}", describe(evaluation, state.position.epoch + 1));
    }
    const std::string& name = parts_.options.checkpoint.best_metric;
    const auto found = evaluation.metrics.find(name);
    if (found == evaluation.metrics.end()) {
        return false;
    }
    const bool higher = model::higher_is_better(name);
    const bool again = state.best && state.best->name == name && state.best->step == state.step;  // a member was lost in it
    const bool better = again || !state.best || state.best->name != name ||
                        (higher ? found->second > state.best->value : found->second < state.best->value);
    if (better) {
        state.best = report::BestMetric{name, found->second, state.step};
    }
    return better;
}

}  // namespace mastic::engine
