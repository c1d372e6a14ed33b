#include <mastic/engine/front/program.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/config/parse.hpp>
#include <mastic/config/requested_text.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>
#include <mastic/core/log.hpp>
#include <mastic/core/program_edge.hpp>
#include <mastic/core/version.hpp>
#include <mastic/engine/front/run_commands.hpp>
#include <mastic/job/batch/batch_command.hpp>
#include <mastic/job/batch/shell_words.hpp>

namespace mastic::engine {
namespace {

using config::Positional;

const Positional run_dir{"RUN_DIR", "a run directory", true, false};

config::ProgramInfo describe_program() {
    config::ProgramInfo program;
    program.name = "mastic-train";
    program.one_line = "data-parallel training under mpiexec or srun";
    program.version = version();
    program.description =
        "Trains a network on all ranks that mpiexec or srun started, saves checkpoints, and goes on from the newest "
        "valid one when it is started again in the same run directory.\n\n"
        "Every key section.key of the TOML file is also a flag and an environment variable. A flag wins over the "
        "environment, the environment over the file, the file over the default.";
    program.commands = {
        {"", "train: start, or go on from the newest checkpoint", {}, true},
        {"evaluate", "metrics of a run's network on its test data", {run_dir}, false},
        {"predict",
         "outputs of a run's network for new inputs",
         {run_dir, {"INPUTS", "file with inputs, in a format of data.format", true, false},
          {"OUT", "file to write: .csv or .h5", true, false}},
         false},
        {"export",
         "a run's network for other programs",
         {run_dir, {"OUT", "file to write: .pt (TorchScript) or .safetensors", true, false}},
         false},
        {"status", "what a run is doing, or how it ended", {run_dir}, false},
        {"report",
         "one HTML page with the curves of a run",
         {run_dir, {"OUT", "file to write (RUN_DIR/report.html)", false, false}},
         false},
        {"compare", "runs side by side", {{"RUN_DIR", "run directories", true, true}}, false},
        {"why",
         "why a run ended: what happened first, and what to do",
         {{"RUN_DIR|JOBID", "a run directory, or the id of a Slurm job that ran one", true, false}},
         false},
        {"finish",
         "complete run.json of a run whose ranks were killed",
         {run_dir, {"CODE", "exit code that the launcher gave", false, false}},
         false},
        {"settle",
         "the end of a batch script: complete run.json, submit the script again if the run stopped with a checkpoint, "
         "and return the run's own code",
         {{"CODE", "exit code of srun", true, false},
          {"TIME", "when srun was started, in seconds since 1970", true, false},
          {"SIGNAL", "the last signal that the script has passed on, or none", true, false},
          {"SCRIPT", "the script to submit again, behind --", true, false},
          {"ARGUMENT", "its arguments", false, true}},
         true},
        {"models", "the built-in networks", {}, false},
    };
    program.examples = {
        {"mpiexec -n 2 mastic-train configs/fashion.toml", "train with two ranks"},
        {"mpiexec -n 2 mastic-train configs/fashion.toml --dry-run", "check everything, write nothing"},
        {"mastic-train status runs/fashion", "how far it is"},
        {"mastic-train report runs/fashion", "write runs/fashion/report.html"},
        {"mastic-train why runs/fashion", "what ended it"},
        {"mastic-train export runs/fashion fashion.pt", "write the network as TorchScript"},
    };
    program.exit_codes = {
        {0, "done"},
        {2, "usage or configuration"},
        {3, "input data"},
        {4, "environment: MPI singleton, GPU, PMI"},
        {5, "input/output: full disk, read-only, lock"},
        {6, "checkpoints exist but none is usable"},
        {7, "collective mismatch or stall, lost rank"},
        {8, "the loss is not finite"},
        {9, "out of memory"},
        {75, "stopped early with a valid checkpoint: please requeue"},
    };
    program.other_variables = {"MASTIC_BLAS_*"};
    return program;
}

using Command = std::function<int(const CommandContext&)>;

Command find_command(const TrainOptions& options, const std::string& name, const Engine& engine) {
    static const std::map<std::string, Command> table = {
        {"status", status_command}, {"report", report_command}, {"compare", compare_command}, {"why", why_command},
        {"finish", finish_command}, {"settle", settle_command}, {"models", models_command},
    };
    if (name.empty() && !options.checkpoint.verify.empty()) {
        return verify_command;
    }
    const auto found = table.find(name);
    return found == table.end() ? engine.command : found->second;
}

// Commands on a run directory start from the configuration that is stored there.
bool uses_stored_config(const std::string& command) {
    return command == "evaluate" || command == "predict" || command == "export";
}

job::BatchCall batch_call(const TrainOptions& options, const config::Invocation& invocation,
                          const std::vector<std::string>& arguments) {
    job::refuse_script_of_other_commands(options.slurm, invocation.command, "", "the training itself");
    job::BatchCall call;
    call.options = options.slurm;
    call.dry_run = invocation.dry_run;
    call.arguments = job::without_batch_switches({arguments.begin() + 1, arguments.end()});
    call.mpi_library = comm::mpi_library_text;
    const bool elastic = !options.elastic.join.empty();
    if (elastic) {
        call.work = job::BatchWork::pilot;
        call.options.nodes = call.options.ranks_per_node = 1;
        call.options.mpi = "none";
    }
    call.script = std::filesystem::path(options.run.dir) / (elastic ? "pilot.sbatch" : "train.sbatch");
    call.next_steps = "  progress  mastic-train status " + job::shell_word(options.run.dir) + "\n  restart   scancel -b -s USR1 JOB    (it " +
                      (elastic ? "leaves, and comes again" : "saves, and goes on") + " in a new job)\n";
    return call;
}

int run(std::vector<std::string> arguments, const job::JobContext& job, const Engine& engine) {
    const config::ProgramInfo program = describe_program();
    TrainOptions options;
    config::Schema schema;
    declare_train_options(schema, options);
    const auto parse = [&](const std::vector<std::string>& words) {
        std::vector<const char*> argv;
        for (const std::string& word : words) {
            argv.push_back(word.c_str());
        }
        return config::parse(program, schema, static_cast<int>(argv.size()), argv.data(), config::mastic_variables());
    };
    config::Invocation invocation = parse(arguments);
    if (uses_stored_config(invocation.command) && invocation.config_file.empty() && !invocation.help) {
        std::vector<std::string> with_config = arguments;
        with_config.insert(with_config.end(), {"--config", invocation.positionals.at(0) + "/config.toml"});
        invocation = parse(with_config);
    }
    if (!options.elastic.join.empty()) {
        options.run.dir = options.elastic.join;
    }
    const auto versions = [&] { return engine.versions(arguments); };
    if (const auto text = config::requested_text(program, schema, invocation, versions)) {
        if (job.rank == 0) {
            std::fputs(text->c_str(), stdout);
        }
        return 0;
    }
    if (const auto text = job::answer_batch_call(batch_call(options, invocation, arguments), process_environment(),
                                                 run_command)) {
        std::fputs(text->c_str(), stdout);
        return 0;
    }
    const Command command = find_command(options, invocation.command, engine);
    return command({options, schema, invocation, job, std::move(arguments)});
}

// The ranks, which had the same words, have told it already if srun ended with the same code.
bool told_by_the_ranks(const std::vector<std::string>& arguments, const Error& error) {
    const auto separator = std::ranges::find(arguments, "--");
    constexpr std::ptrdiff_t words_after_code = 2;  // TIME SIGNAL
    return arguments.size() > 1 && arguments[1] == "settle" && separator - arguments.begin() > words_after_code + 2 &&
           *(separator - words_after_code - 1) == std::to_string(static_cast<int>(error.code()));
}

// Before MPI starts, ranks mostly meet the same mistake, and rank 0 tells it: srun ends the others when it has left. They
// wait for that, or srun might end rank 0 before it has spoken. Nor does rank 0 leave at once: a rank that is ended while
// it is being loaded makes srun report the signal instead of the code. A rank that is not ended has met a mistake of its
// own.
void tell_before_mpi(const job::JobContext& job, const Error& error) {
    const int rank = job.rank;
    const bool srun = job.launcher == job::Launcher::slurm;
    if (rank > 0 && !srun) {
        return;  // mpiexec ends nobody before MPI starts
    }
    constexpr timespec patience{1, 0};
    if (rank > 0) {
        sigset_t end;
        sigemptyset(&end);
        sigaddset(&end, SIGTERM);
        sigprocmask(SIG_BLOCK, &end, nullptr);
        if (sigtimedwait(&end, nullptr, &patience) == SIGTERM) {
            return;
        }
    }
    const std::string who = rank > 0 ? "rank " + std::to_string(rank) + ": " : "";
    std::fprintf(stderr, "mastic-train: %s%s\n", who.c_str(), error.full_message().c_str());
    if (rank == 0 && srun && job.world_size > 1) {
        nanosleep(&patience, nullptr);
    }
}

}  // namespace

int run_mastic_train(int argc, char** argv, const Engine& engine) {
    const std::vector<std::string> arguments(argv, argv + argc);
    return run_to_the_edge({"mastic-train"}, [&](ProgramEdge& edge) {
        const job::JobContext job = job::find_job_context(process_environment(), host_name());
        edge.rank = job.rank;
        edge.ranks = job.world_size;
        edge.tell = [&arguments, job](const Error& error) {
            if (!told_by_the_ranks(arguments, error)) {
                tell_before_mpi(job, error);
            }
        };
        setup_log({job.rank, job.world_size, {}, "info"});
        return run(arguments, job, engine);
    });
}

}  // namespace mastic::engine
