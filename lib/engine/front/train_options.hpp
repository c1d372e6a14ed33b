// Everything a user can set about a training, each with its default. One declaration an option is in
// declare_train_options(); flag, TOML key, environment name, help and checks all come from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mastic/comm/options.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/gradient/bucket_plan.hpp>
#include <mastic/job/batch/slurm_options.hpp>

namespace mastic::engine {

struct RunOptions {
    std::string dir = "runs/default";
    std::string resume = "auto";  // auto | never | require
    std::int64_t seed = 1;
};

struct DataOptions {
    std::string format = "auto";
    std::string train_inputs, train_targets;
    std::string test_inputs, test_targets;
    std::string input_name = "inputs", target_name = "targets";
    std::string task = "classify";
    std::vector<std::int64_t> input_shape;
    std::vector<double> mean, stddev;
    std::int64_t classes = 0;
    std::int64_t sequence_length = 128;
    std::int64_t limit = 0;
    std::int64_t crop = 0;
    bool flip = false;
    bool shuffle = true;
    std::int64_t prefetch = 4;
};

struct ModelSection {
    std::string name = "lenet";
    std::string file;
    std::string init;
    std::vector<std::int64_t> hidden = {256, 128};
    double dropout = 0.0;
    std::int64_t width = 0, depth = 0, heads = 8;  // 0: the network's own
};

struct StepOptions {
    std::int64_t epochs = 1;
    std::int64_t max_steps = 0;  // 0: epochs decide
    std::int64_t batch_size = 128;  // over all ranks
    std::int64_t micro_batch = 0;   // per rank; 0: the whole local batch at once
    std::string balance = "none";
    std::string loss = "auto";
    std::string precision = "float32";
    std::string device = "auto";
    std::int64_t threads = 0;  // 0: this rank's share of the cores
    double clip_norm = 0.0;
    std::int64_t eval_every = 1;  // epochs
    std::string inject;  // faults, for tests: "nan@STEP:RANK", "kill@STEP:RANK"
};

struct OptimizerSection {
    std::string name = "sgd";
    double learning_rate = 0.05, momentum = 0.9, weight_decay = 0.0;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    bool nesterov = false;
};

struct ScheduleSection {
    std::string kind = "constant";
    std::int64_t warmup = 0;  // samples
    std::vector<std::int64_t> milestones;  // samples
    double factor = 0.1;
    double final_fraction = 0.0;
};

struct AllreduceSection {
    std::string transport = "auto";
    std::string algorithm = "auto";
    std::string wire = "exact";
    std::string network = "auto";
    std::string tuning;  // file of mastic-tune; empty: none
    Bytes segment = comm::GroupOptions{}.segment;
    std::int64_t depth = comm::GroupOptions{}.depth;
    Bytes bucket = gradient::BucketOptions{}.capacity;
    Bytes first_bucket = gradient::BucketOptions{}.first;
    bool overlap = true;
    std::string poll = "auto";
    Seconds stall_report = comm::WaitLimits{}.stall_report;
    Seconds timeout = comm::WaitLimits{}.timeout;
};

struct CheckpointSection {
    std::int64_t every_steps = 0;  // 0: by time only
    Seconds every{300};            // 0: by steps only
    std::int64_t keep = 3;
    std::string best_metric = "accuracy";  // "" keeps none
    std::string use = "auto";              // of evaluate, predict, export: best | newest | auto | a step
    std::string verify;                    // --checkpoint.verify DIR: only verify
};

struct JobSection {
    Seconds time_limit{0};  // 0: what Slurm says
    Seconds margin{10};
    bool bind = true;
};

struct ElasticSection {
    std::string join;     // run directory; empty: the ranks are those of MPI
    Seconds timeout{3};   // without a sign of life
    std::string scaling = "none";  // none | linear | sqrt: of batch and learning rate by the members
    Seconds patience{120};  // for a newcomer to find the run
    Bytes rate{0};        // to newcomers, a second; 0: no limit
};

struct OutputSection {
    std::int64_t log_every = 10;  // steps between records in metrics.jsonl
    std::string level = "info";
    std::string progress = "auto";  // auto | always | never
    bool trace = false;
};

struct TrainOptions {
    RunOptions run;
    DataOptions data;
    ModelSection model;
    StepOptions train;
    OptimizerSection optimizer;
    ScheduleSection schedule;
    AllreduceSection allreduce;
    CheckpointSection checkpoint;
    JobSection job;
    job::SlurmOptions slurm;
    ElasticSection elastic;
    OutputSection output;
    bool fork = false;
    bool trace = false;  // as output.trace
    bool print_binding = false;
};

// Declares all options with `options` as their targets; `options` must outlive the schema.
void declare_train_options(config::Schema& schema, TrainOptions& options);

}  // namespace mastic::engine
