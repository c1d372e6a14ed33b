// A training whose ranks are those of MPI, from its start to its last barrier.
#pragma once

#include <mastic/comm/mpi/session.hpp>
#include <mastic/engine/train_stages.hpp>
#include <mastic/job/binding.hpp>

namespace mastic::engine {

class TrainRun : public TrainStages {
  public:
    TrainRun(const CommandContext& context, comm::MpiSession& session, job::SignalWatch& signals)
        : TrainStages(context, signals), session_(session) {}

    TrainResult run() override;

  private:
    job::CpuView survey(comm::Group& group);
    void place();
    void open_accelerators(comm::Group& group);
    void print_bindings(comm::Group& group, const job::Binding& own, int threads) const;
    void open_directory();
    TrainResult train();

    comm::MpiSession& session_;
};

}  // namespace mastic::engine
