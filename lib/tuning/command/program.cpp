#include <mastic/tuning/command/program.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include <mastic/comm/cuda/version.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/comm/nccl/version.hpp>
#include <mastic/config/parse.hpp>
#include <mastic/config/requested_text.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>
#include <mastic/core/log.hpp>
#include <mastic/core/program_edge.hpp>
#include <mastic/core/version.hpp>
#include <mastic/job/batch/batch_command.hpp>
#include <mastic/job/batch/shell_words.hpp>
#include <mastic/tuning/command/command_context.hpp>

namespace mastic::tuning {
namespace {

using config::Positional;

const Positional table{"TABLE", "a tuning.json that `run` wrote", true, false};

config::ProgramInfo describe_program() {
    config::ProgramInfo program;
    program.name = "mastic-tune";
    program.one_line = "find the fastest collective operations of a machine";
    program.version = version();
    program.description =
        "Measures, on the ranks that mpiexec or srun started, each algorithm, segment and transport at each "
        "size and number "
        "of nodes and ranks, and writes the fastest into a table that mastic-train reads.\n\n"
        "Every key section.key of the TOML file is also a flag and an environment variable. A flag wins over "
        "the "
        "environment, the environment over the file, the file over the default.";
    program.commands = {
        {"run", "measure, and write the table (--tune.output)", {}, true},
        {"show", "what a table chooses, as text", {table}, false},
        {"report",
         "one HTML page with the bandwidth of each algorithm",
         {table, {"OUT", "file to write (TABLE with the ending .html)", false, false}},
         false},
        {"verify", "measure anew at sizes between those of the table: do its choices hold?", {table}, false},
        {"export",
         "measure MPICH's own allreduce algorithms, and write settings for MPICH",
         {{"OUT", "file to write (mpich.json)", false, false}},
         false},
        {"probe", "start and end MPI: proves that the library takes its settings", {}, false},
    };
    program.examples = {
        {"srun --mpi=pmi2 mastic-tune run --budget 10m", "tune the nodes of a job"},
        {"mpiexec -n 4 mastic-tune run --tune.largest 16M", "tune this machine, up to 16 MiB"},
        {"mastic-tune show tuning.json", "what it chose"},
        {"mastic-tune report tuning.json", "write tuning.html"},
        {"mpiexec -n 4 mastic-tune verify tuning.json", "do the choices hold between the measured sizes?"},
        {"mpiexec -n 4 mastic-tune export mpich.json", "a selection file for MPICH itself"},
    };
    program.exit_codes = {
        {0, "done"},
        {2, "usage or configuration"},
        {3, "the table is damaged, or (verify) does not hold here"},
        {4, "environment: MPI singleton, PMI, other hardware than the table's"},
        {5, "input/output: full disk, read-only"},
        {7, "a candidate gave a wrong result; or an operation stalled, or a rank was lost"},
        {9, "out of memory"},
    };
    return program;
}

// Starts MPI; never returns.
int probe() {
    comm::MpiSession session;
    const auto group = session.make_group({.transport = comm::TransportKind::native});
    group->barrier();
    if (session.rank() == 0) {
        std::printf("%s\n", group->description().c_str());
    }
    session.finish(0);
}

using Command = int (*)(const CommandContext&);

const std::map<std::string, Command>& commands() {
    static const std::map<std::string, Command> all = {
        {"run", [](const CommandContext& context) -> int { run_command(context); }},
        {"verify", [](const CommandContext& context) -> int { verify_command(context); }},
        {"export", [](const CommandContext& context) -> int { export_command(context); }},
        {"show", show_command},
        {"report", report_command},
        {"probe", [](const CommandContext&) -> int { return probe(); }},
    };
    return all;
}

LibraryVersions library_versions() {
    return {{"MPI", built_and_run(comm::mpi_header_version(), comm::mpi_library_version())},
            {"CUDA", comm::cuda_version()},
            {"NCCL", comm::nccl_version()},
            {"compiler", "GCC " __VERSION__}};
}

// The script runs `run`: that word may be left out.
job::BatchCall batch_call(const TuneOptions& options, const config::Invocation& invocation,
                          std::vector<std::string> arguments) {
    job::refuse_script_of_other_commands(options.slurm, invocation.command, "run", "`mastic-tune run`");
    if (invocation.command == "run") {
        arguments.erase(std::ranges::find(arguments, "run"));
    }
    job::BatchCall call;
    call.work = job::BatchWork::tune;
    call.options = options.slurm;
    call.dry_run = invocation.dry_run;
    call.arguments = job::without_batch_switches(std::move(arguments));
    call.mpi_library = comm::mpi_library_text;
    call.script = std::filesystem::path(options.output).replace_extension(".sbatch");
    const std::string file = job::shell_word(options.output);
    call.next_steps = "  result    mastic-tune show " + file + "; mastic-train --allreduce.tuning " + file + "\n";
    return call;
}

int run(int argc, char** argv, const job::JobContext& job) {
    const config::ProgramInfo program = describe_program();
    TuneOptions options;
    config::Schema schema;
    declare_tune_options(schema, options);
    const config::Invocation invocation =
        config::parse(program, schema, argc, argv, config::mastic_variables());
    if (const auto text = config::requested_text(program, schema, invocation, library_versions)) {
        if (job.rank == 0) {
            std::cout << *text;
        }
    } else if (const auto answer =
                   job::answer_batch_call(batch_call(options, invocation, {argv + 1, argv + argc}),
                                          process_environment(), mastic::run_command)) {
        std::cout << *answer;
    } else if (const auto command = commands().find(invocation.command); command != commands().end()) {
        return command->second({options, invocation, job});
    } else {
        throw Error(ExitCode::usage, "which command?",
                    "run, show, report, verify or export; --help describes them");
    }
    return 0;
}

}  // namespace

int run_mastic_tune(int argc, char** argv) {
    return run_to_the_edge({"mastic-tune"}, [&](ProgramEdge& edge) {
        const job::JobContext job = job::find_job_context(process_environment(), host_name());
        edge.rank = job.rank;
        edge.ranks = job.world_size;
        setup_log({job.rank, job.world_size, {}, "info"});
        return run(argc, argv, job);
    });
}

}  // namespace mastic::tuning
