// The stages of a training up to its steps: data, network, directory, resume. Who the ranks are, and how the steps go, is
// said by what is made of it: TrainRun (ranks of MPI) and ElasticRun (members that come and go).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/core/trace.hpp>
#include <mastic/engine/accelerator.hpp>
#include <mastic/engine/front/command_context.hpp>
#include <mastic/engine/run_files.hpp>
#include <mastic/engine/trainer.hpp>
#include <mastic/job/flight_recorder.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::engine {

// Its functions are in the order of the stages.
class TrainStages {
  public:
    virtual ~TrainStages() = default;
    TrainStages(const TrainStages&) = delete;
    TrainStages& operator=(const TrainStages&) = delete;

    // Throws what ends the run. A dry run and --print-binding end earlier, with the result of a run that did nothing.
    virtual TrainResult run() = 0;

    // What is known of the run by now, for run.json.
    RunFiles* files() { return files_.get(); }
    const job::RunDirectory& directory() const { return directory_; }
    void flush_trace() { trace_.flush(); }
    job::FlightRecorder& recorder() { return recorder_; }

  protected:
    TrainStages(const CommandContext& context, job::SignalWatch& signals);

    bool first() const { return group_->rank() == 0; }
    static void set_threads(int threads);
    // How this rank computes: what a checkpoint remembers, and a line for people.
    ArithmeticFacts arithmetic_of(int world_size, int threads) const;
    std::string describe_arithmetic() const;
    void load_data();
    void build();
    void describe_dry_run();
    // Of one process: the directory's lock, what an earlier start has left there, room for checkpoints.
    void claim_directory(bool fresh_start);
    void open_rank_files(int rank);
    void open_trace(int process, const std::string& name);
    void resume();
    std::uint64_t state_bytes() const;

    const CommandContext& context_;
    const TrainOptions& options_;
    job::SignalWatch& signals_;
    job::RunDirectory directory_;
    Accelerator accelerator_;
    ArithmeticFacts arithmetic_;
    std::shared_ptr<comm::Group> group_;  // of all ranks
    std::vector<std::string> hosts_;
    std::shared_ptr<const data::Dataset> train_data_, test_data_;
    TrainState state_;
    std::uint64_t planned_samples_ = 0;
    std::optional<optimizer::LearningRateSchedule> schedule_;
    FaultInjection faults_;
    std::optional<job::RunLock> lock_;
    std::unique_ptr<RunFiles> files_;
    Trace trace_;
    job::FlightRecorder recorder_;

  private:
    void check_nothing_was_lost();
    void repair_pin();
    bool pin_holds();
    void probe();
    std::string newest_checkpoint();
};

}  // namespace mastic::engine
