#include <mastic/colocation/command/program.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/config/parse.hpp>
#include <mastic/config/requested_text.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>
#include <mastic/core/log.hpp>
#include <mastic/core/program_edge.hpp>
#include <mastic/core/version.hpp>

namespace mastic::colocation {
namespace {

config::ProgramInfo describe_program() {
    config::ProgramInfo program;
    program.name = "mastic-mps";
    program.one_line = "several MPI ranks on each GPU, under NVIDIA MPS";
    program.version = version();
    program.description =
        "Stands in front of a program under srun or mpiexec: gives each rank a GPU and the cores near it, "
        "starts one private MPS "
        "daemon on each node, proves that it works, and becomes the program. When the last rank of the node "
        "has ended, however it "
        "did, the daemon is stopped and its directory removed. With --device cpu the ranks share groups of "
        "cores.\n\n"
        "The program and its arguments stand behind --.";
    program.commands = {
        {"", "-- PROGRAM [ARGUMENT]...: start one rank of it", {}, false},
        {"auto",
         "-- PROGRAM [ARGUMENT]...: find the best --ranks-per-gpu by short trials, and print it",
         {},
         false},
        {"plan", "which rank would work on which device and cores", {}, false},
        {"status", "the MPS daemons of your jobs on this node", {}, false},
        {"clean", "remove what dead jobs of yours left on this node", {}, false},
    };
    program.examples = {
        {"srun --mpi=pmi2 -n 8 mastic-mps --ranks-per-gpu 4 -- mastic-train my.toml", "8 ranks on 2 GPUs"},
        {"mastic-mps --ranks-per-gpu auto -- mastic-train my.toml",
         "in a batch script: finds the best number, then starts srun with it"},
        {"mastic-mps --device cpu --ranks-per-gpu auto -- mastic-train my.toml",
         "ranks x threads on this machine's cores"},
        {"mastic-mps --ranks-per-gpu auto --submit -- mastic-train my.toml", "the same as a job of its own"},
        {"mastic-mps plan --ranks-per-gpu 4", "what would run where?"},
        {"mastic-mps clean", "after a node crash"},
    };
    program.exit_codes = {
        {0, "done"},
        {2, "usage: too many ranks, no such program"},
        {4, "environment: no GPU granted, MPS does not start, another user is in the way"},
        {5, "input/output: full disk, read-only"},
        {9, "out of memory"},
    };
    return program;
}

// What stands in front of "--" is for this program.
struct SplitArguments {
    std::vector<char*> own;
    std::vector<std::string> program;
};

SplitArguments split(int argc, char** argv) {
    char** end = argv + argc;
    char** dashes = std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
    return {{argv, dashes}, {dashes == end ? end : dashes + 1, end}};
}

void require_program(const CommandContext& context) {
    if (context.program.empty()) {
        throw Error(ExitCode::usage, "which program?",
                    "it stands behind --: mastic-mps --ranks-per-gpu 4 -- mastic-train my.toml");
    }
}

int run_command_of(const CommandContext& context) {
    const std::string& command = context.invocation.command;
    if (command.empty() || command == "auto") {
        require_program(context);
    }
    if (command == "plan") {
        return plan_command(context);
    }
    if (command == "status") {
        return status_command(context);
    }
    if (command == "clean") {
        return clean_command(context);
    }
    if (command == "auto" || context.options.chooses()) {
        return auto_command(context, command.empty());
    }
    return launch_command(context);
}

int run(int argc, char** argv, const job::JobContext& job) {
    const config::ProgramInfo program = describe_program();
    MpsOptions options;
    config::Schema schema;
    declare_mps_options(schema, options);
    SplitArguments arguments = split(argc, argv);
    // Variables named MASTIC_ are those of the program behind it.
    const config::Invocation invocation =
        config::parse(program, schema, static_cast<int>(arguments.own.size()), arguments.own.data(), {});
    const auto libraries = [] { return LibraryVersions{{"compiler", "GCC " __VERSION__}}; };
    if (const auto text = config::requested_text(program, schema, invocation, libraries)) {
        std::cout << *text;
        return 0;
    }
    const CommandContext context{options, invocation, std::move(arguments.program), job, process_environment()};
    job::refuse_script_of_other_commands(options.slurm, invocation.command, "", "`mastic-mps ... -- PROGRAM`");
    if (job::asks_for_batch_script(options.slurm)) {
        require_program(context);
        const job::BatchCall call = batch_call(context, {arguments.own.begin() + 1, arguments.own.end()});
        std::cout << job::answer_batch_call(call, context.environment, mastic::run_command).value();
        return 0;
    }
    return run_command_of(context);
}

}  // namespace

int run_mastic_mps(int argc, char** argv) {
    return run_to_the_edge({"mastic-mps"}, [&](ProgramEdge& edge) {
        const job::JobContext job = job::find_job_context(process_environment(), host_name());
        edge.rank = job.rank;
        edge.ranks = job.world_size;
        // The ranks of a node meet the same mistakes.
        edge.tell = [job](const Error& error) {
            if (job.local_rank == 0) {
                const std::string node = job.node_count > 1 ? job.host + ": " : "";
                std::fprintf(stderr, "mastic-mps: %s%s\n", node.c_str(), error.full_message().c_str());
            }
        };
        setup_log({job.rank, job.world_size, {}, "info"});
        return run(argc, argv, job);
    });
}

}  // namespace mastic::colocation
