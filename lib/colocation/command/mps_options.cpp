#include <mastic/colocation/command/mps_options.hpp>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

using config::Schema;

std::string problem_of(const std::function<void()>& parse) {
    try {
        parse();
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

std::string check_ranks(const std::string& text) {
    if (text == "even" || text == "auto") {
        return "";
    }
    return problem_of([&] {
        if (config::Codec<int>::from_text(text) < 1) {
            throw Error(ExitCode::usage, "'" + text + "' is neither auto nor a number from 1 on");
        }
    });
}

void declare_sharing(Schema& schema, MpsOptions& options) {
    schema
        .option("ranks-per-gpu", options.ranks_per_gpu,
                "how many ranks share a device; even: the ranks of the node are spread over all; auto: short "
                "trials find "
                "the best number, and the program is started with it (outside of srun and mpiexec)")
        .metavar("K|auto")
        .check(check_ranks);
    schema
        .option("thread-percentage", options.thread_percentage,
                "of a GPU's threads that a rank may use: a percentage, none, or auto: 125 / K, so that ranks "
                "can use what "
                "others leave idle")
        .metavar("P|auto|none")
        .check([](const std::string& text) { return problem_of([&] { parse_thread_percentage(text); }); });
    schema
        .option("memory-limit", options.memory_limit,
                "of a rank on its GPU: a size, none, or auto: nine tenths of it / K")
        .metavar("SIZE|auto|none")
        .check([](const std::string& text) { return problem_of([&] { parse_memory_limit(text); }); });
    schema
        .option("mps", options.mps,
                "auto: where a GPU has several ranks; on: always; off: never, the ranks take turns. A daemon "
                "that the site has "
                "started for the job is used, else one of the job's own is")
        .choices({"auto", "on", "off"});
    schema.option("device", options.device, "what ranks share: GPUs, or groups of cores")
        .choices({"gpu", "cpu"});
    schema
        .option("cores-per-device", options.cores_per_device,
                "with --device cpu: cores of a group; 0: those of a NUMA node")
        .at_least(0);
    schema.option("bind", options.bind,
                  "bind each rank to cores near its device, where the launcher has not bound it");
    schema.option("ranks", options.ranks, "of plan: ranks on this node; 0: as the launcher says").at_least(0);
}

void declare_search(Schema& schema, MpsOptions& options) {
    schema.option("largest", options.largest, "auto: ranks on a device, at most").range(1, 64);
    schema
        .option("least-gain", options.least_gain,
                "auto: twice as many ranks must gain this share, or the search ends")
        .range(0.0, 1.0);
    schema
        .option("trial-steps", options.trial_steps,
                "auto: steps of a trial, of which the last two thirds count")
        .at_least(8);
    schema.option("trial-time", options.trial_time, "auto: longest time of a trial").above(Seconds{0});
    schema
        .option("trial-arguments", options.trial_arguments,
                "auto: what makes a short run of the program that writes {dir}/metrics.jsonl; {steps} and "
                "{time} are "
                "replaced too. The default is for mastic-train")
        .advanced();
    schema
        .option("trial-directory", options.trial_directory,
                "auto: where trials have their directories; all nodes must see it")
        .metavar("DIR")
        .advanced();
    schema
        .option("cache", options.cache,
                "auto: file with what was found before; empty: ~/.cache/mastic/layouts.json")
        .metavar("FILE");
    schema.flag("again", options.again, "auto: run the trials, whatever the cache holds");
    schema
        .option("srun-mpi", options.srun_mpi,
                "auto: type of srun --mpi; auto: what PROGRAM --print-mpi says, else pmi2")
        .advanced();
    schema
        .option("mpiexec", options.mpiexec,
                "auto: what starts ranks outside of Slurm; empty: mpiexec.mpich or mpiexec")
        .advanced();
}

}  // namespace

int MpsOptions::ranks_per_device() const {
    return ranks_per_gpu == "even" || chooses() ? 0 : config::Codec<int>::from_text(ranks_per_gpu);
}

void declare_mps_options(Schema& schema, MpsOptions& options) {
    declare_sharing(schema, options);
    declare_search(schema, options);
    job::declare_slurm_options(schema, options.slurm);
}

}  // namespace mastic::colocation
