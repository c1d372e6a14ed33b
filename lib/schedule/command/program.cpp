#include <mastic/schedule/command/program.hpp>

#include <iostream>

#include <mastic/config/parse.hpp>
#include <mastic/config/requested_text.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/log.hpp>
#include <mastic/core/program_edge.hpp>
#include <mastic/core/named.hpp>
#include <mastic/core/version.hpp>
#include <mastic/job/batch/batch_command.hpp>
#include <mastic/schedule/command/command_context.hpp>

namespace mastic::schedule {
namespace {

config::ProgramInfo describe_program() {
    config::ProgramInfo program;
    program.name = "mastic-rescale";
    program.one_line = "fill idle nodes with trainings that grow and shrink";
    program.version = version();
    program.description =
        "Replays a log of a site with several policies that give its idle nodes to trainings, and says how "
        "much they "
        "would have computed: the gain can be seen before anything is installed. Shows which nodes of a "
        "Slurm "
        "cluster are idle now, and how long they will be. Fills them with the "
        "trainings that were submitted to a state directory.\n\n"
        "Every key section.key of the TOML file is also a flag and an environment variable. A flag wins over "
        "the "
        "environment, the environment over the file, the file over the default.";
    const config::Positional state_dir = {"STATE_DIR", "what a manager must not forget", true, false};
    program.commands = {
        {"simulate",
         "replay a log, compare policies",
         {{"LOG", "idle nodes as CSV, a job log in SWF, or what sacct -P prints; may be compressed by gzip",
           true, false},
          {"OUT", "also write an HTML page there", false, false}},
         true},
        {"view", "ask Slurm which nodes are idle, until when and why; --json: as JSON", {}, true},
        {"serve",
         "fill idle nodes with the trainings of a state directory; --dry-run: say what would be done now",
         {state_dir},
         true},
        {"submit",
         "add trainings; --sweep FILE: many trials of one; no manager needs to live",
         {state_dir, {"FILE", "an order, or a configuration of mastic-train", true, true}},
         false},
        {"status",
         "what runs where, since when, how far and why; --json, --watch",
         {state_dir, {"TRAINING", "all of this one, or a sweep's trials", false, false}},
         false},
        {"resize",
         "other limits for a training, or another --training.weight",
         {state_dir,
          {"TRAINING", "its id", true, false},
          {"MIN", "nodes", false, false},
          {"MAX", "nodes; without it as MIN", false, false}},
         false},
        {"drain",
         "pilots leave these nodes, none comes; --undo: they may come again",
         {state_dir, {"NODES", "as Slurm writes them: n[1-4]; all: every node", true, true}},
         false},
        {"stop",
         "end trainings, which keep their checkpoints; --manager: end the manager",
         {state_dir, {"TRAINING", "an id, a sweep, or all", false, true}},
         false},
        {"report",
         "write a page of what a manager has done: nodes filled, progress, what was wasted",
         {state_dir, {"OUT", "the page; else STATE_DIR/report.html", false, false}},
         false},
    };
    program.examples = {
        {"sacct -a -P -X -o JobID,State,Start,End,NNodes -S 2026-01-01 -E 2026-02-01 > january.txt",
         "a month of jobs of a Slurm site"},
        {"mastic-rescale simulate january.txt january.html --log.nodes 512",
         "what would its idle nodes have computed?"},
        {"mastic-rescale simulate log.swf.gz --log.cores_per_node 16 --dry-run", "is the log readable?"},
        {"mastic-rescale view --view.partition batch", "which nodes are idle now, until when and why?"},
        {"mastic-rescale serve my-state --pilot.partition preemptible",
         "fill them with what is submitted to my-state"},
        {"mastic-rescale serve my-state --pilot.partition preemptible --submit",
         "the same as a job of one core, which comes again when its time is over"},
        {"mastic-rescale submit state my.toml --training.max_nodes 8", "a training for the idle nodes"},
        {"mastic-rescale submit state my.toml --sweep rates.txt --keep-best 2", "many trials of it"},
        {"mastic-rescale status state --watch", "what runs where, and why"},
    };
    program.exit_codes = {
        {0, "done"},
        {2, "usage or configuration"},
        {3, "the log is missing or damaged; --strict: it has an odd row"},
        {4, "Slurm cannot be asked"},
        {5, "input/output: full disk, read-only, lock"},
        {9, "out of memory"},
        {75, "serve was told to end by a signal: start it again, pilots go on"},
    };
    return program;
}

struct NamedCommand {
    const char* name;
    int (*run)(const CommandContext&);
};

constexpr NamedCommand commands[] = {
    {"simulate", simulate_command}, {"view", view_command},     {"serve", serve_command},
    {"submit", submit_command},     {"status", status_command}, {"resize", resize_command},
    {"drain", drain_command},       {"stop", stop_command},     {"report", report_command},
};

int run(int argc, char** argv) {
    const config::ProgramInfo program = describe_program();
    RescaleOptions options;
    config::Schema schema;
    declare_rescale_options(schema, options);
    const config::Invocation invocation =
        config::parse(program, schema, argc, argv, config::mastic_variables());
    const auto libraries = [] { return LibraryVersions{{"compiler", "GCC " __VERSION__}}; };
    if (const auto text = config::requested_text(program, schema, invocation, libraries)) {
        std::cout << *text;
        return 0;
    }
    if (invocation.command.empty()) {
        throw Error(ExitCode::usage, "which command?", "mastic-rescale --help lists them");
    }
    job::refuse_script_of_other_commands(options.slurm, invocation.command, "serve", "`mastic-rescale serve`");
    return require_named(commands, invocation.command, "command")
        .run({options, invocation, schema, {argv + 1, argv + argc}});
}

}  // namespace

int run_mastic_rescale(int argc, char** argv) {
    return run_to_the_edge({"mastic-rescale"}, [&](ProgramEdge&) {
        setup_log({});
        return run(argc, argv);
    });
}

}  // namespace mastic::schedule
