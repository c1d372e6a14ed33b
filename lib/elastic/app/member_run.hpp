// An app as a member of an elastic run (membership.hpp).
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <mastic/elastic/app/app_run.hpp>
#include <mastic/elastic/membership.hpp>

namespace mastic::app {

class MemberRun : public AppRun, private elastic::ReplicatedState {
  public:
    MemberRun(App& app, const AppOptions& options, const config::Schema& schema, std::string host,
              job::SignalWatch& signals)
        : AppRun(app, options, schema, std::move(host), signals) {}
    ~MemberRun() override;
    ExitCode run() override;

  private:
    elastic::Blob snapshot() override;
    void load(elastic::Step step, std::span<const std::byte> snapshot) override;
    void apply(elastic::Step step, std::span<const std::byte> reduced) override;

    StepWord own_word() override;
    void begin_step() override { record_step(); }
    void applied(const StepWord& agreed) override;
    std::optional<ExitCode> after_step(const StepWord& agreed) override;

    void enter();
    void begin_generation();
    void check_equal_values();
    void regroup();
    void lead_if_first();
    ExitCode left();
    void save_as_the_last_one();
    void say_farewell();

    std::unique_ptr<elastic::Membership> membership_;
    std::shared_ptr<comm::Group> group_;
    std::vector<std::byte> last_good_;  // the kept values after the last step that counts
    bool leaving_ = false;
    bool left_ = false;
    std::chrono::steady_clock::time_point last_try_to_lead_{};
};

}  // namespace mastic::app
