// A training from the start of MPI to its last barrier: who is where, data, network, directory, resume, steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/trace.hpp>
#include <mastic/engine/command_context.hpp>
#include <mastic/engine/run_files.hpp>
#include <mastic/engine/trainer.hpp>
#include <mastic/job/binding.hpp>
#include <mastic/job/flight_recorder.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::engine {

// Its functions are in the order of its stages.
class TrainRun {
  public:
    TrainRun(const CommandContext& context, comm::MpiSession& session, job::SignalWatch& signals);

    // Throws what ends the run. A dry run and --print-binding end earlier, with the result of a run that did nothing.
    TrainResult run();

    // What is known of the run by now, for run.json.
    RunFiles* files() { return files_.get(); }
    const job::RunDirectory& directory() const { return directory_; }
    void flush_trace() { trace_.flush(); }
    job::FlightRecorder& recorder() { return recorder_; }

  private:
    bool first() const { return session_.rank() == 0; }
    job::CpuView survey(comm::Group& group);
    void print_bindings(comm::Group& group, const job::Binding& own, int threads) const;
    void place();
    void load_data();
    void build();
    void open_directory();
    void resume();
    void check_nothing_was_lost();
    void repair_pin();
    bool pin_holds();
    void probe();
    std::string newest_checkpoint();
    TrainResult train();
    void describe_dry_run();
    std::uint64_t state_bytes() const;

    const CommandContext& context_;
    const TrainOptions& options_;
    comm::MpiSession& session_;
    job::SignalWatch& signals_;
    job::RunDirectory directory_;
    ArithmeticFacts arithmetic_;
    std::unique_ptr<comm::Group> group_;
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
};

}  // namespace mastic::engine
