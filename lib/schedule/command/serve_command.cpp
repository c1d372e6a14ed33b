// mastic-rescale serve: the manager.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include <pwd.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include <mastic/core/environment.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>
#include <mastic/job/batch/batch_command.hpp>
#include <mastic/job/batch/slurm_site.hpp>
#include <mastic/job/batch/shell_words.hpp>
#include <mastic/job/context.hpp>
#include <mastic/job/signals.hpp>
#include <mastic/job/slurm_job.hpp>
#include <mastic/schedule/command/command_context.hpp>
#include <mastic/schedule/command/desk.hpp>
#include <mastic/schedule/manager/manager.hpp>

extern char** environ;

namespace mastic::schedule {
namespace {

constexpr std::chrono::milliseconds tick{200};  // for signals
constexpr std::chrono::seconds inbox_tick{1};

// Steady, so that a clock that is set neither stops a wait nor ends it.
std::function<double()> steady_time() {
    using Clock = std::chrono::steady_clock;
    return [begin_s = seconds_since_1970(), begin = Clock::now()] { return begin_s + Seconds(Clock::now() - begin).count(); };
}

std::string user_name() {
    const passwd* user = getpwuid(geteuid());
    return user != nullptr ? user->pw_name : std::to_string(geteuid());
}

// What Slurm gave the manager's own job must not reach the pilots', nor sbatch.
void forget_own_job() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string name = std::string(*entry).substr(0, std::string(*entry).find('='));
        const bool is_of_a_job = name.starts_with("SLURM_") && name != "SLURM_CONF";
        if (is_of_a_job || name.starts_with("SBATCH_") || name.starts_with("PMI") ||
            name.starts_with("SRUN_")) {
            names.push_back(name);
        }
    }
    for (const std::string& name : names) {
        unsetenv(name.c_str());
    }
}

ManagerOptions manager_options(const RescaleOptions& options, bool only_say) {
    const ServeOptions& serve = options.serve;
    ManagerOptions result;
    result.polling = serve.polling;
    result.polling.longest = std::max(serve.polling.interval, Seconds(60));
    result.pilot = serve.pilot;
    result.pilot.shortest = std::min(serve.pilot.shortest, serve.pilot.longest);
    result.budget = options.budget;
    result.policy.costs = options.simulation().live;
    result.policy.most = static_cast<int>(serve.most);
    result.policy_name = serve.policy;
    result.burst = static_cast<int>(serve.burst);
    result.spare = static_cast<int>(serve.spare);
    result.silence = serve.silence;
    result.most_failures = static_cast<int>(serve.most_failures);
    result.give_way = serve.give_way;
    result.only_say = only_say;
    return result;
}

ManagerParts manager_parts(const RescaleOptions& options, const job::SignalWatch& signals) {
    ManagerParts parts;
    parts.run = run_command;
    parts.now_s = steady_time();
    parts.user = user_name();
    parts.program_directory = options.serve.programs();
    parts.must_end = [&signals] { return signals.stop_signal().has_value(); };
    return parts;
}

// Where the directory is away, the next round tells.
bool has_requests(const StateDirectory& state) {
    try {
        return !state.inbox().waiting().empty();
    } catch (const std::exception&) {
        return false;
    }
}

// Until something is to be done: Slurm is due, or somebody asks for something.
void wait(const Manager& manager, const StateDirectory& state, Seconds longest,
          const job::SignalWatch& signals) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::min(longest, std::max(Seconds(tick), manager.until_due()));
    for (auto look = Clock::now() + inbox_tick; Clock::now() < until && !signals.stop_signal();) {
        std::this_thread::sleep_for(tick);
        if (Clock::now() >= look) {
            if (has_requests(state)) {
                return;
            }
            look = Clock::now() + inbox_tick;
        }
    }
}

int serve(const CommandContext& context, const StateDirectory& state, const job::SignalWatch& signals) {
    const ServeOptions& options = context.options.serve;
    Manager manager(state, manager_options(context.options, context.invocation.dry_run),
                    manager_parts(context.options, signals));
    if (context.invocation.dry_run) {
        manager.round();
        std::cout << describe_polling(options.polling) << "nothing was submitted, cancelled or written\n";
        return manager.problem().empty() ? 0 : static_cast<int>(ExitCode::environment);
    }
    manager.say(EventKind::manager_started, "on " + host_name());
    for (;;) {
        const bool shutdown = manager.round();
        const bool done = options.until_done && manager.all_ended();
        if (shutdown || done || options.once) {
            manager.say(EventKind::manager_stopped, shutdown ? "as asked"
                                                    : done   ? "all trainings have ended"
                                                             : "one round");
            // For cron, which hears of nothing else.
            return options.once && !manager.problem().empty() ? static_cast<int>(ExitCode::environment) : 0;
        }
        wait(manager, state, options.polling.interval, signals);
        if (signals.stop_signal()) {
            manager.say(EventKind::manager_stopped, job::to_string(signals.stop_reason()));
            spdlog::info("{}: pilots go on; start it again with the same directory",
                         job::to_string(signals.stop_reason()));
            return static_cast<int>(ExitCode::requeue);
        }
    }
}

// The manager as a job of its own.
job::BatchCall batch_call(const CommandContext& context) {
    const std::string& directory = context.invocation.positionals.at(0);
    job::BatchCall call;
    call.work = job::BatchWork::manage;
    call.options = context.options.slurm;
    call.dry_run = context.invocation.dry_run;
    call.options.nodes = call.options.ranks_per_node = 1;
    call.options.mpi = "none";
    call.arguments = job::without_batch_switches(context.arguments);
    call.arguments.erase(std::ranges::find(call.arguments, "serve"));
    call.script = std::filesystem::path(directory) / "rescale.sbatch";
    const std::string word = job::shell_word(directory);
    call.next_steps = "  trainings mastic-rescale submit " + word + " my.toml\n  progress  mastic-rescale status " + word +
                      " --watch\n";
    return call;
}

// Nothing would ever be idle in one that does not exist. Where Slurm is away, the rounds tell it.
void require_pilot_partition(const std::string& name) {
    if (name.empty()) {
        return;
    }
    const job::SlurmSite site = job::ask_slurm_partitions(run_command);
    if (site.problem.empty()) {
        job::require_partition(name, site);
    }
}

// Two managers of one directory would refuse each other, the second after it has waited in the queue.
void refuse_second_manager(const StateDirectory& state) {
    if (const auto manager = state.manager()) {
        throw Error(ExitCode::io, state.path().string() + " has a manager already: " + job::describe(*manager),
                    "end it first: mastic-rescale stop " + state.path().string() + " --manager");
    }
}

}  // namespace

int serve_command(const CommandContext& context) {
    require_pilot_partition(context.options.serve.pilot.partition);
    if (context.options.slurm.submit && !context.invocation.dry_run) {
        refuse_second_manager(StateDirectory::create_or_open(context.invocation.positionals.at(0)));
    }
    if (const auto text = job::answer_batch_call(batch_call(context), process_environment(), run_command)) {
        std::cout << *text;
        return 0;
    }
    const job::SignalWatch signals;
    const job::JobContext own_job = job::read_job_context(process_environment(), host_name());
    if (!context.invocation.dry_run && job::told_before_start(own_job, run_command)) {
        spdlog::info("this job was told to end before the manager had started");
        return static_cast<int>(ExitCode::requeue);
    }
    forget_own_job();
    const std::string& directory = context.invocation.positionals.at(0);
    if (context.invocation.dry_run) {
        return serve(context, StateDirectory::open(directory), signals);
    }
    const StateDirectory state = StateDirectory::create_or_open(directory);
    const job::OwnerLock lock = state.lock(job::this_process(host_name(), own_job.slurm_job_id));
    return serve(context, state, signals);
}

}  // namespace mastic::schedule
