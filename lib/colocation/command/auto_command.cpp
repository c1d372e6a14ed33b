// mastic-mps auto, and --ranks-per-gpu auto: trials with 1, 2, 4, ... ranks on each device, each started by srun or mpiexec.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include <spdlog/spdlog.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/colocation/job_start.hpp>
#include <mastic/colocation/launch.hpp>
#include <mastic/colocation/layout_cache.hpp>
#include <mastic/colocation/trial.hpp>
#include <mastic/config/text.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/own_program.hpp>
#include <mastic/job/signals.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;

std::string find_mpiexec(const std::string& wanted) {
    if (!wanted.empty()) {
        return find_program(wanted).string();
    }
    for (const char* name : {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"}) {
        try {
            return find_program(name).string();
        } catch (const Error&) {
            continue;
        }
    }
    throw Error(ExitCode::environment, "there is no mpiexec in PATH", "name one: --mpiexec PROGRAM");
}

std::string throughput_text(const Trial& trial) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f samples/s", trial.samples_per_s);
    return text;
}

class Search {
  public:
    explicit Search(const CommandContext& context)
        : context_(context),
          program_(find_program(context.program.front())),
          node_(find_devices(context.options, context.environment, observe_own_cpus())),
          cache_(context.options.cache, context.environment) {
        const auto devices = static_cast<int>(node_.devices.size());
        shape_ = job_shape(context.environment, devices, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
        if (shape_.slurm) {
            shape_.srun_mpi = find_srun_mpi(context.options.srun_mpi, program_);
        } else {
            shape_.mpiexec = find_mpiexec(context.options.mpiexec);
        }
    }

    LayoutChoice choose() {
        const std::string key = layout_key(context_.program, node_.devices, shape_.nodes);
        if (const auto known = context_.options.again ? std::nullopt : cache_.find(key)) {
            spdlog::info("mastic-mps: {} ranks on each device, as found before ({}; --again measures anew)",
                         known->ranks_per_device, cache_.file().string());
            return *known;
        }
        const LayoutChoice choice = choose_layout(rules(), [this](int ranks) { return try_out(ranks); });
        cache_.store(key, config::join(context_.program, " "), choice);
        spdlog::info("mastic-mps: {} ranks on each device: {}", choice.ranks_per_device, choice.end);
        return choice;
    }

    int threads(int ranks_per_device) const {
        const auto ranks = ranks_per_device * static_cast<int>(node_.devices.size());
        return std::max(1, shape_.cpus_per_node / ranks);
    }

    // srun or mpiexec, this program in front of the other, and the other with these arguments.
    std::vector<std::string> words(int ranks_per_device, const std::vector<std::string>& further) const {
        const MpsOptions& options = context_.options;
        std::vector<std::string> all = start_words(shape_, ranks_per_device);
        all.insert(all.end(),
                   {own_program().string(),
                    "--ranks-per-gpu=" + std::to_string(ranks_per_device), "--device=" + options.device,
                    "--mps=" + options.mps, "--thread-percentage=" + options.thread_percentage,
                    "--memory-limit=" + options.memory_limit,
                    "--cores-per-device=" + std::to_string(options.cores_per_device),
                    std::string("--bind=") + (options.bind ? "true" : "false"), "--"});
        all.insert(all.end(), context_.program.begin(), context_.program.end());
        all.insert(all.end(), further.begin(), further.end());
        return all;
    }

    std::vector<std::string> trial_words(int ranks_per_device) const {
        const MpsOptions& options = context_.options;
        return words(ranks_per_device,
                     fill_arguments(options.trial_arguments, trial_directory(ranks_per_device),
                                    options.trial_steps, options.trial_time));
    }

    SearchRules rules() const {
        SearchRules rules{context_.options.largest, context_.options.least_gain};
        if (!context_.options.uses_gpus()) {  // a rank needs a core
            std::size_t cores = std::ranges::min(node_.devices, {}, [](const Device& d) {
                                    return d.cores.size();
                                }).cores.size();
            rules.most = std::min(rules.most, static_cast<int>(cores));
        }
        return rules;
    }

  private:
    fs::path trial_directory(int ranks_per_device) const {
        return fs::absolute(context_.options.trial_directory) /
               ("mastic-mps-trial-" + std::to_string(getpid()) + "-" + std::to_string(ranks_per_device));
    }

    MemoryGauge gauge() const { return node_.nvml ? gpu_memory(*node_.nvml, node_.devices) : node_memory(); }

    Trial try_out(int ranks_per_device) {
        const Seconds spare(60);  // to start and to end
        const Trial trial = run_trial({trial_words(ranks_per_device), trial_directory(ranks_per_device),
                                       context_.options.trial_time + spare, gauge(),
                                       [this] { return signals_.stop_signal().has_value(); }},
                                      ranks_per_device);
        if (const auto signal = signals_.stop_signal()) {
            throw Stopped{*signal};
        }
        if (trial.problem.empty()) {
            spdlog::info("mastic-mps: trial with {} ranks on each device: {}", ranks_per_device,
                         throughput_text(trial));
        }
        return trial;
    }

  public:
    struct Stopped {
        int signal;
    };

  private:
    const CommandContext& context_;
    fs::path program_;
    NodeDevices node_;
    LayoutCache cache_;
    JobShape shape_;
    job::SignalWatch signals_;  // a trial must not outlive this process
};

void check_place(const CommandContext& context) {
    if (context.job.launcher != job::Launcher::none) {
        throw Error(ExitCode::usage, "this is a rank already: auto starts srun or mpiexec itself",
                    "call it in the batch script in place of srun, or give the number: --ranks-per-gpu 4");
    }
}

int show(const CommandContext& context, const Search& search, const LayoutChoice& choice) {
    const int threads = search.threads(choice.ranks_per_device);
    if (!context.invocation.json) {
        std::cout << "ranks_per_gpu=" << choice.ranks_per_device << "\nthreads=" << threads << "\n";
        return 0;
    }
    nlohmann::json trials = nlohmann::json::array();
    for (const Trial& trial : choice.trials) {
        trials.push_back({{"ranks_per_gpu", trial.ranks_per_device},
                          {"samples_per_s", trial.samples_per_s},
                          {"problem", trial.problem}});
    }
    const nlohmann::json all = {{"ranks_per_gpu", choice.ranks_per_device},
                                {"threads", threads},
                                {"samples_per_s", choice.samples_per_s},
                                {"end", choice.end},
                                {"trials", trials}};
    std::cout << all.dump(2) << "\n";
    return 0;
}

int show_dry_run(const Search& search) {
    for (int ranks = 1; ranks <= search.rules().most; ranks *= 2) {
        std::cout << "would try: " << config::join(search.trial_words(ranks), " ") << "\n";
    }
    return 0;
}

}  // namespace

std::string find_srun_mpi(const std::string& wanted, const fs::path& program) {
    if (wanted != "auto") {
        return wanted;
    }
    CommandResult answer = run_command({program.string(), "--print-mpi"}, Seconds(30));
    std::erase(answer.output, '\n');
    const bool one_word = !answer.output.empty() && answer.output.find(' ') == answer.output.npos;
    return answer.exit_code == 0 && one_word ? answer.output : "pmi2";
}

int auto_command(const CommandContext& context, bool start) {
    check_place(context);
    std::vector<std::string> words;
    try {
        Search search(context);
        if (context.invocation.dry_run) {
            return show_dry_run(search);
        }
        const LayoutChoice choice = search.choose();
        if (!start) {
            return show(context, search, choice);
        }
        words = search.words(choice.ranks_per_device, {});
    } catch (const Search::Stopped& stopped) {
        return 128 + stopped.signal;
    }
    become_program(find_program(words.front()), words);
}

}  // namespace mastic::colocation
