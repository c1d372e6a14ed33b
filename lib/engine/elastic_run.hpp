// A training whose members come and go: one process a node, held together by lib/elastic instead of MPI.
//
// The first process founds the run, or goes on from its newest checkpoint; others join it while it trains. Between two
// changes of the members (a generation) the steps are those of any training, over a group of its members. Rank 0 of the
// generation leads: it holds the run directory's lock, writes metrics, run.json and checkpoints; when it goes, the next
// one takes over. A member that is asked to stop leaves at a step boundary; the last one saves and stops the run.
#pragma once

#include <chrono>
#include <memory>

#include <mastic/elastic/membership.hpp>
#include <mastic/engine/elastic_state.hpp>
#include <mastic/engine/pending_work.hpp>
#include <mastic/engine/time_limit.hpp>
#include <mastic/engine/train_stages.hpp>
#include <mastic/report/metrics_backlog.hpp>

namespace mastic::engine {

class ElasticRun : public TrainStages {
  public:
    ElasticRun(const CommandContext& context, job::SignalWatch& signals);
    ~ElasticRun() override;

    TrainResult run() override;

  private:
    class Steps;  // the trainer's view of the membership

    void place();
    std::shared_ptr<comm::Group> make_solo_group() const;
    void join();
    void let_in_who_helps(elastic::MembershipOptions& membership);
    std::uint64_t batch_of(std::size_t members) const;
    void try_own_speed();
    void trial_steps(std::uint64_t batch, int count, StepCosts& costs);
    bool try_to_lead(bool founder);
    bool lead(bool founder);  // false: it cannot yet
    TrainResult train();
    TrainResult train_generation(Steps& steps);
    void begin_generation();
    void check_equal_weights();
    void regroup();
    void record_step_of_others(const AppliedStep& step);
    void record(const report::MetricsRecord& record);
    void record_events();
    TrainResult end_after_leaving(Steps& steps);
    void agree_how_to_begin();
    void wait_for_the_others(const TrainResult& result);
    bool is_recorded_as_finished() const;
    void finish_instead_of_the_leader(const TrainResult& result);
    void save_as_the_last_one();
    void wait_to_lead(std::chrono::steady_clock::time_point until) const;
    void complain_of_not_leading(const Error& error);
    TrainResult end(TrainResult result, const Steps& steps);

    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();  // for times in metrics
    int threads_ = 1;
    PendingWork pending_;
    bool evaluate_first_ = false;   // of this generation
    std::vector<bool> late_ranks_;  // newcomers of this generation that lack its beginning; empty: none
    bool unproven_ = false;         // that these have come to the same weights
    bool newcomer_ = true;  // until a group has found its weights equal
    StepCosts costs_;
    std::unique_ptr<ElasticState> shared_;
    std::shared_ptr<comm::Group> solo_;  // for what one process does alone; outlives the checkpointer
    std::unique_ptr<elastic::Membership> membership_;
    std::unique_ptr<Checkpointer> checkpointer_;
    std::optional<TimeLimit> time_limit_;
    std::optional<report::Progress> progress_;
    report::MetricsBacklog backlog_;
    std::chrono::steady_clock::time_point last_try_to_lead_{};
    std::optional<std::chrono::steady_clock::time_point> cannot_lead_since_;
    std::string complaint_;
};

}  // namespace mastic::engine
