// mastic-mps ... -- PROGRAM: one rank on its way from srun or mpiexec to the program.
#include <algorithm>
#include <iostream>
#include <iterator>

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/colocation/conflicts.hpp>
#include <mastic/colocation/launch.hpp>
#include <mastic/colocation/session.hpp>
#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

// Not in the way: this job's own daemon and ranks, and daemons of this user, which the keeper removes if they are left over.
bool is_own(pid_t process, const std::filesystem::path& pipe) {
    return owner_of(process) == getuid() && (is_mps_process(process) || uses_pipe(process, pipe));
}

Neighbours look_around(std::vector<Device>& devices, const std::filesystem::path& pipe) {
    Neighbours neighbours;
    neighbours.foreign_mps_servers = foreign_mps_servers();
    for (Device& device : devices) {
        std::erase_if(device.users, [&](int user) { return is_own(user, pipe); });
        std::ranges::copy_if(device.users, std::back_inserter(neighbours.foreign_users),
                             [](int user) { return owner_of(user).value_or(getuid()) != getuid(); });
    }
    return neighbours;
}

// A MIG instance wants a daemon of its own.
std::vector<std::string> served_devices(const NodeDevices& node, const Device& own) {
    if (own.kind == DeviceKind::mig) {
        return {own.id};
    }
    std::vector<std::string> ids;
    for (const Device& device : node.devices) {
        if (device.kind == DeviceKind::gpu) {
            ids.push_back(device.id);
        }
    }
    return ids;
}

const RankPlace& own_place(const CommandContext& context, const Placement& placement) {
    const auto rank = static_cast<std::size_t>(sharers_of(context, placement.devices.size()).rank);
    if (rank >= placement.ranks.size()) {
        throw Error(ExitCode::environment, "local rank " + std::to_string(rank) + " of " +
                                               std::to_string(placement.ranks.size()) + " has no place");
    }
    return placement.ranks[rank];
}

std::string summary(const CommandContext& context, const Placement& placement,
                    const std::optional<MpsPlace>& mps, bool sites_own) {
    const int most = std::ranges::max(placement.ranks, {}, &RankPlace::sharers).sharers;
    const bool gpus = context.options.uses_gpus();
    return std::to_string(placement.ranks.size()) + " ranks on " + std::to_string(placement.devices.size()) +
           (gpus ? " GPUs of " : " groups of cores of ") + context.job.host + ", up to " +
           std::to_string(most) + " on each" +
           (mps    ? sites_own ? ", under the site's MPS" : ", under MPS"
            : gpus ? ", without MPS"
                   : "");
}

void tell(const CommandContext& context, const Placement& placement, const std::vector<std::string>& notes,
          const std::optional<MpsPlace>& mps, bool sites_own) {
    if (context.job.rank == 0) {
        spdlog::info("mastic-mps: {}", summary(context, placement, mps, sites_own));
    }
    for (const std::string& note : notes) {
        if (context.job.local_rank == 0) {
            spdlog::warn("mastic-mps: {}: {}", context.job.host, note);
        }
    }
}

class Launch {
  public:
    explicit Launch(const CommandContext& context)
        : context_(context),
          program_(find_program(context.program.front())),
          cpus_(observe_own_cpus()),
          node_(find_devices(context.options, context.environment, cpus_)),
          placement_(place(context, node_, cpus_)),
          own_(own_place(context, placement_)) {}

    int dry_run() {
        if (wants_mps(context_.options, placement_)) {
            find_program("nvidia-cuda-mps-control", ExitCode::environment);
        }
        if (context_.job.local_rank == 0) {
            std::cout << placement_text(context_, node_, placement_) << "nothing was started\n";
        }
        return 0;
    }

    [[noreturn]] void run() {
        std::vector<std::string> notes = node_.notes;
        notes.insert(notes.end(), placement_.notes.begin(), placement_.notes.end());
        set_up_mps(notes);
        node_.nvml.reset();  // the program opens its own
        tell(context_, placement_, notes, mps_, mps_ && !session_);
        if (context_.options.bind) {
            job::apply_binding(own_.binding, cpus_);
        }
        const Device& device = placement_.devices[own_.device];
        apply(environment_of(own_, device,
                             {parse_thread_percentage(context_.options.thread_percentage),
                              parse_memory_limit(context_.options.memory_limit), mps_},
                             context_.environment));
        start();
    }

  private:
    void set_up_mps(std::vector<std::string>& notes) {
        const bool wanted = wants_mps(context_.options, placement_);
        if (wanted) {
            mps_ = find_site_daemon(context_.environment, run_command);
        }
        if (mps_ || !context_.options.uses_gpus()) {
            return;
        }
        const SessionKey key{context_.job.host, job_name(context_.job, context_.environment),
                             served_devices(node_, placement_.devices[own_.device])};
        const auto pipe = SessionDirectory::of(key, context_.environment).mps().pipe;
        const auto found = check_conflicts(placement_, wanted, look_around(placement_.devices, pipe));
        notes.insert(notes.end(), found.begin(), found.end());
        if (wanted) {
            session_ = Session::join(key, context_.environment);
            mps_ = session_->directory().mps();
        }
    }

    [[noreturn]] void start() {
        if (session_) {
            session_->keep_across_exec();
        }
        const bool outlived_by_keeper = context_.job.launcher != job::Launcher::slurm;
        if (!session_ || outlived_by_keeper) {
            become_program(program_, context_.program);
        }
        supervise_program(program_, context_.program, [this] { std::move(*session_).leave(); });
    }

    const CommandContext& context_;
    std::filesystem::path program_;
    job::CpuView cpus_;
    NodeDevices node_;
    Placement placement_;
    const RankPlace& own_;
    std::optional<MpsPlace> mps_;
    std::optional<Session> session_;  // empty: the site's daemon, or none
};

}  // namespace

int launch_command(const CommandContext& context) {
    Launch launch(context);
    if (context.invocation.dry_run) {
        return launch.dry_run();
    }
    launch.run();
}

}  // namespace mastic::colocation
