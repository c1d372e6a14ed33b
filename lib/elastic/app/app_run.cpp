#include <mastic/elastic/app/app_run.hpp>

#include <array>
#include <utility>

#include <spdlog/spdlog.h>

namespace mastic::app {

AppRun::AppRun(App& app, const AppOptions& options, const config::Schema& schema, std::string host,
               job::SignalWatch& signals)
    : app_(app), options_(options), schema_(schema), host_(std::move(host)), signals_(signals) {}

void AppRun::resume() {
    if (const auto stored = saver_->restore(context_.state_)) {
        set_steps(*stored);
        spdlog::info("resumed at step {}", *stored);
    }
}

ExitCode AppRun::take_steps() {
    while (!finished()) {
        if (evaluation_due()) {
            app_.evaluate(context_);
        }
        const StepWord agreed = step();
        if (finished()) {
            break;
        }
        const auto reason = static_cast<job::StopReason>(agreed.stop);
        if (agreed.checkpoint != 0 || reason != job::StopReason::none) {
            save(reason != job::StopReason::none);
        }
        if (reason != job::StopReason::none) {
            spdlog::info("{}: stopped and saved after step {}", job::to_string(reason), context_.steps_);
            return ExitCode::requeue;
        }
        if (const auto code = after_step(agreed)) {
            return *code;
        }
    }
    app_.evaluate(context_);
    save(true);
    return ExitCode::done;
}

bool AppRun::evaluation_due() const {
    return options_.evaluate_every > 0 && context_.steps_ > 0 &&
           context_.steps_ % options_.evaluate_every == 0;
}

StepWord AppRun::step() {
    begin_step();
    app_.step(context_);
    const StepWord mine = own_word();
    std::array words = {mine.generation, mine.stop, mine.checkpoint};
    context_.group_->allreduce(comm::view_of(std::span(words)), comm::ReduceOp::max);
    context_.steps_ += 1;
    const StepWord agreed{words[0], words[1], words[2]};
    applied(agreed);
    return agreed;
}

StepWord AppRun::own_word() {
    const bool asked = std::exchange(context_.checkpoint_wished_, false) | signals_.take_checkpoint_request();
    return {.stop = static_cast<std::int64_t>(signals_.stop_reason()),
            .checkpoint = asked || (saver_ && saver_->due())};
}

void AppRun::save(bool last) {
    if (saver_) {
        saver_->save(context_.state_, context_.steps_);
        if (last) {
            saver_->finish();
        }
    }
}

void AppRun::save_if_missing() {
    saver_->finish();
    if (!saver_->has(context_.steps_)) {
        save(true);
    }
}

void AppRun::take_step_again(std::span<const std::byte> recorded) {
    context_.rank_ = 0;
    context_.size_ = context_.tape_.play(recorded);
    app_.step(context_);
    context_.steps_ += 1;
    context_.checkpoint_wished_ = false;
    const bool fits = context_.tape_.at_end();
    context_.tape_.stop();
    if (!fits) {
        throw Error(ExitCode::collective,
                    "a step that is taken again has fewer collectives than it had on the other members",
                    "what a step does may depend on kept values, steps() and results of collectives only");
    }
}

}  // namespace mastic::app
