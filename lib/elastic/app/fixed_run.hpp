// An app on the ranks of mpiexec or srun, from start to end the same.
#pragma once

#include <mastic/comm/mpi/session.hpp>
#include <mastic/elastic/app/app_run.hpp>

namespace mastic::app {

class FixedRun : public AppRun {
  public:
    FixedRun(App& app, const AppOptions& options, const config::Schema& schema, std::string host,
             job::SignalWatch& signals, comm::MpiSession& session)
        : AppRun(app, options, schema, std::move(host), signals), session_(session) {}

    ExitCode run() override;

  private:
    void spread_state();

    comm::MpiSession& session_;
    std::shared_ptr<comm::Group> group_;
};

}  // namespace mastic::app
