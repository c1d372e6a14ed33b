#include <mastic/tuning/command/tune_options.hpp>

#include <algorithm>

#include <mastic/comm/options.hpp>
#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/comm/shm_method.hpp>

namespace mastic::tuning {
namespace {

using config::Schema;

std::vector<std::string> collective_names() {
    std::vector<std::string> names;
    for (const comm::Collective collective : comm::collectives) {
        names.emplace_back(comm::to_string(collective));
    }
    return names;
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names = {"native-blocking", "native-pipelined"};
    for (const comm::ShmMethodName& method : comm::shm_methods()) {
        names.emplace_back(method.name);
    }
    for (const comm::PlanAlgorithm& plan : comm::plan_algorithms()) {
        if (std::ranges::count(names, plan.name) == 0) {
            names.emplace_back(plan.name);
        }
    }
    return names;
}

void declare_what(Schema& schema, TuneOptions& options) {
    schema
        .option("tune.shapes", options.shapes,
                "all: for each number of nodes and of ranks per node (1, 2, 4, ... and all) a part of the "
                "ranks measures "
                "while the others sleep; job: all ranks only")
        .choices({"all", "job"});
    schema.option("tune.collectives", options.collectives, "what to measure").choices(collective_names());
    schema.option("tune.smallest", options.smallest, "smallest buffer").range(Bytes{4}, Bytes{1u << 30});
    schema.option("tune.largest", options.largest, "largest buffer").range(Bytes{4}, Bytes{1u << 30});
    schema.option("tune.factor", options.factor, "from one size to the next").range(1.1, 1024.0);
    schema
        .option("tune.transports", options.transports,
                "how data may travel; tcp is measured between nodes only, unless it is the only one")
        .choices({"native", "mpi", "shm", "tcp"});
    schema.option("tune.algorithms", options.algorithms, "only these; empty: all").choices(algorithm_names());
    schema.option("tune.segments", options.segments, "sizes of pieces to try, besides each transport's own")
        .range(Bytes{1u << 10}, Bytes{1u << 30});
    schema.option("tune.depths", options.depths, "native-pipelined: pieces in flight to try, besides 4")
        .range(1, 1024);
    schema
        .option("tune.wire", options.wire,
                "16-bit wires to measure an allreduce on, besides the exact one; a job takes their rows only "
                "where it asks "
                "for that wire")
        .choices({"bfloat16", "float16"});
    schema
        .option("tune.memory", options.memory,
                "where the buffers are; device: on the GPU of each rank, from which they pass through the host")
        .choices({"host", "device"});
}

void declare_how(Schema& schema, TuneOptions& options) {
    schema.option("tune.repetitions", options.repetitions, "of a candidate, at most").range(3, 10'000);
    schema.option(
        "tune.network", options.network,
        "of tcp: an interface (eth0), a network (10.0.0.0/24), or auto: the fastest that all ranks have");
    schema
        .option("tune.poll", options.poll,
                "how the communication thread waits; as in the job that is tuned for")
        .choices({"auto", "spin", "yield", "sleep"})
        .advanced();
    schema.option("tune.timeout", options.timeout, "end (code 7) when one operation takes longer")
        .above(Seconds{0})
        .advanced();
}

}  // namespace

void declare_tune_options(Schema& schema, TuneOptions& options) {
    schema.section("tune", "What is measured, and for how long.");
    schema.option("tune.output", options.output, "the table to write").metavar("FILE");
    schema.option("tune.budget", options.budget, "time for everything").above(Seconds{0});
    declare_what(schema, options);
    declare_how(schema, options);
    schema.option("budget", options.short_budget, "the same as --tune.budget").above(Seconds{0});
    schema
        .option("format", options.format,
                "of export; mpich-json: a selection file for MPICH; mpich-env: lines for a batch script")
        .choices({"mpich-json", "mpich-env"});
    job::declare_slurm_options(schema, options.slurm);
    job::declare_print_mpi(schema, options.slurm);
}

}  // namespace mastic::tuning
