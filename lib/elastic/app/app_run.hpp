// The steps of an app, and what the ranks agree on after each. Who the ranks are is said by what is made of it: FixedRun (ranks
// of MPI) and MemberRun (members that come and go).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/elastic/app/app.hpp>
#include <mastic/elastic/app/options.hpp>
#include <mastic/elastic/app/saver.hpp>
#include <mastic/job/signals.hpp>

namespace mastic::app {

// What a rank wants; the maximum over all ranks is what they do.
struct StepWord {
    std::int64_t generation = 0;  // of an elastic run: the one that waits to take effect
    std::int64_t stop = 0;        // job::StopReason
    std::int64_t checkpoint = 0;  // 1: save
};

class AppRun {
  public:
    virtual ~AppRun() = default;
    AppRun(const AppRun&) = delete;
    AppRun& operator=(const AppRun&) = delete;
    virtual ExitCode run() = 0;

  protected:
    // All references outlive it.
    AppRun(App& app, const AppOptions& options, const config::Schema& schema, std::string host,
           job::SignalWatch& signals);

    void set_up() { app_.setup(context_); }
    std::string fingerprint() const { return fingerprint_of(schema_, context_.state_.layout()); }
    void join(std::shared_ptr<comm::Group> group) { context_.join(std::move(group)); }
    KeptState& state() { return context_.state_; }
    std::int64_t steps() const { return context_.steps_; }
    void set_steps(std::int64_t steps) { context_.steps_ = steps; }
    bool finished() const { return app_.finished(context_); }

    // Becomes the process that saves: Error(io) if another one still does. resume() goes on from the newest checkpoint.
    void lead() { saver_.emplace(options_, host_); }
    bool leads() const { return saver_.has_value(); }
    void stop_leading() { saver_.reset(); }
    void save(bool last);      // nothing where it does not lead
    void save_if_missing();    // by the one that leads; until it is durable
    void resume();

    // Until the app has finished (done), a stop was agreed on (requeue), both saved, or after_step() says so (its code).
    ExitCode take_steps();
    virtual StepWord own_word();
    virtual void begin_step() {}
    virtual void applied(const StepWord&) {}  // the step counts
    // The boundary to the next step, if there is one.
    virtual std::optional<ExitCode> after_step(const StepWord&) { return std::nullopt; }

    void record_step() { context_.tape_.record(context_.size_); }
    std::vector<std::byte> take_recording() { return context_.tape_.take(); }
    void forget_recording() { context_.tape_.stop(); }
    void take_step_again(std::span<const std::byte> recorded);

    App& app_;
    const AppOptions& options_;
    const config::Schema& schema_;
    const std::string host_;
    job::SignalWatch& signals_;

  private:
    bool evaluation_due() const;
    StepWord step();

    Context context_;
    std::optional<Saver> saver_;
};

}  // namespace mastic::app
