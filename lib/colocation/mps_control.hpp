// One control daemon of MPS, driven through the program nvidia-cuda-mps-control, which is looked up in PATH (NVIDIA, "Multi-Process
// Service", appendix on tools).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <mastic/colocation/share.hpp>
#include <mastic/core/command.hpp>

namespace mastic::colocation {

class MpsControl {
  public:
    MpsControl(MpsPlace place, CommandRunner run) : place_(std::move(place)), run_(std::move(run)) {}

    // The daemon serves the devices with these ids. Ignores the signals that Slurm sends to all processes of a step. Throws
    // Error(environment) with the end of its log.
    void start(const std::vector<std::string>& devices) const;
    bool answers() const;
    // The daemon answers and has a server for this user: starts one, which a client would get too, and waits for it. Throws
    // Error(environment) with the end of its log.
    void prove(Seconds patience) const;
    std::vector<pid_t> servers() const;

    // Asks it to quit; what is still there after `patience` is killed by process id. Never throws for a daemon that is gone.
    void stop(Seconds patience) const;

    const MpsPlace& place() const { return place_; }

  private:
    std::optional<std::string> ask(const std::string& command) const;  // nothing: it does not answer
    std::vector<std::string> environment_words() const;
    std::string end_of_logs() const;

    MpsPlace place_;
    CommandRunner run_;
};

// A daemon that the site has started for this job (the prolog of Slurm's gres/mps): at CUDA_MPS_PIPE_DIRECTORY, or where
// it listens if nobody says otherwise, /tmp/nvidia-mps. Nothing: none answers there.
std::optional<MpsPlace> find_site_daemon(const Environment& environment, const CommandRunner& run);

}  // namespace mastic::colocation
