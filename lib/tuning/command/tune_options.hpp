// Every option of mastic-tune.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/config/schema.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/job/batch/slurm_options.hpp>

namespace mastic::tuning {

struct TuneOptions {
    std::string output = "tuning.json";
    Seconds budget{600};
    std::string shapes = "all";
    std::vector<std::string> collectives{"allreduce", "broadcast", "reduce-scatter", "allgather"};
    Bytes smallest{64};
    Bytes largest{64u << 20};
    double factor = 4;
    std::vector<std::string> transports{"native", "mpi", "shm", "tcp"};
    std::vector<std::string> algorithms;
    std::vector<Bytes> segments{Bytes{64u << 10}, Bytes{256u << 10}, Bytes{4u << 20}};
    std::vector<int> depths{2, 8};
    std::vector<std::string> wire;
    std::vector<std::string> memory{"host"};
    std::string network = "auto";
    std::string poll = "auto";
    int repetitions = 30;
    Seconds timeout{60};

    job::SlurmOptions slurm;

    std::optional<Seconds> short_budget;  // --budget
    std::string format = "mpich-json";    // of export

    Seconds time() const { return short_budget.value_or(budget); }
};

void declare_tune_options(config::Schema& schema, TuneOptions& options);

}  // namespace mastic::tuning
