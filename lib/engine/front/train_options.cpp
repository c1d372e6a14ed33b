#include <mastic/engine/front/train_options.hpp>

#include <mastic/comm/options.hpp>
#include <mastic/model/model_catalog.hpp>

namespace mastic::engine {
namespace {

using config::OnResume;
using config::Schema;

template <class Table>
std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const auto& row : table) {
        names.emplace_back(row.name);
    }
    return names;
}

void declare_run(Schema& schema, RunOptions& run) {
    schema.section("run", "Where the run lives and how it starts.");
    schema.option("run.dir", run.dir, "run directory: configuration, logs, metrics, checkpoints")
        .metavar("DIR")
        .check([](const std::string& dir) { return std::string(dir.empty() ? "a run directory needs a name" : ""); });
    schema
        .option("run.resume", run.resume,
                "auto: go on from the newest valid checkpoint if there is one; require: fail if there is none; never: "
                "fail if there is one")
        .choices({"auto", "require", "never"});
    schema.option("run.seed", run.seed, "seed of weights, sample order, augmentation and dropout")
        .at_least(0)
        .on_resume(OnResume::fork);
}

void declare_data(Schema& schema, DataOptions& data) {
    schema.section("data", "Training and test data. IDX (gzip or not), NPY, CSV, HDF5, or plain bytes.");
    schema.option("data.format", data.format, "file format; auto looks at the content")
        .choices({"auto", "idx", "npy", "csv", "hdf5", "bytes", "synthetic"})
        .on_resume(OnResume::fork);
    schema.option("data.train_inputs", data.train_inputs, "file with the training inputs")
        .metavar("FILE")
        .on_resume(OnResume::fork);
    schema.option("data.train_targets", data.train_targets,
                  "file with the training targets; not for csv and bytes, and only if another file for hdf5")
        .metavar("FILE")
        .on_resume(OnResume::fork);
    schema.option("data.test_inputs", data.test_inputs, "file with the test inputs; empty: no evaluation")
        .metavar("FILE");
    schema.option("data.test_targets", data.test_targets, "file with the test targets").metavar("FILE");
    schema.option("data.input_name", data.input_name, "hdf5: data set with the inputs").advanced();
    schema.option("data.target_name", data.target_name, "hdf5: data set with the targets; csv: the label's column")
        .advanced();
    schema.option("data.task", data.task, "what is learned")
        .choices({"classify", "regress", "next-token"})
        .on_resume(OnResume::fork);
    schema.option("data.input_shape", data.input_shape, "shape of one sample, if not as stored")
        .on_resume(OnResume::fork)
        .advanced();
    schema.option("data.mean", data.mean, "per channel, subtracted from the inputs (after bytes were scaled to 0..1)")
        .on_resume(OnResume::fork);
    schema.option("data.stddev", data.stddev, "per channel, divides the inputs").on_resume(OnResume::fork);
    schema.option("data.classes", data.classes, "number of classes; 0: the largest label + 1")
        .at_least(0)
        .on_resume(OnResume::fork);
    schema.option("data.sequence_length", data.sequence_length, "next-token: tokens of one sample")
        .at_least(1)
        .on_resume(OnResume::fork);
    schema.option("data.limit", data.limit, "use only the first N training samples; 0: all")
        .at_least(0)
        .on_resume(OnResume::fork);
    schema.option("data.crop", data.crop, "images: pad by so many pixels, then crop at random")
        .at_least(0)
        .on_resume(OnResume::fork);
    schema.option("data.flip", data.flip, "images: mirror at random").on_resume(OnResume::fork);
    schema.option("data.shuffle", data.shuffle, "new random order each epoch").on_resume(OnResume::fork);
    schema.option("data.prefetch", data.prefetch, "batches that the loader keeps ready").range(1, 1024).advanced();
}

void declare_model(Schema& schema, ModelSection& section) {
    schema.section("model", "The network: one of the built-in ones or a TorchScript file.");
    schema.option("model.name", section.name, "built-in network; `mastic-train models` describes them")
        .choices(names_of(model::model_catalog()))
        .on_resume(OnResume::refuse);
    schema.option("model.file", section.file, "a TorchScript file, in place of model.name")
        .metavar("FILE")
        .on_resume(OnResume::refuse);
    schema.option("model.init", section.init, "start from the weights in this safetensors file (fine-tuning)")
        .metavar("FILE");
    schema.option("model.hidden", section.hidden, "mlp: sizes of the hidden layers")
        .at_least(1)
        .on_resume(OnResume::refuse);
    schema.option("model.dropout", section.dropout, "probability of dropping a unit, where the network has dropout")
        .range(0.0, 0.99)
        .on_resume(OnResume::fork);
    schema
        .option("model.width", section.width,
                "resnet18: channels of the first stage; vgg-like: units of a large layer; transformer: features of a "
                "token; 0: the network's own")
        .at_least(0)
        .on_resume(OnResume::refuse);
    schema.option("model.depth", section.depth, "transformer: layers; 0: the network's own").at_least(0).on_resume(OnResume::refuse);
    schema.option("model.heads", section.heads, "transformer: attention heads")
        .at_least(1)
        .on_resume(OnResume::refuse);
}

void declare_train(Schema& schema, StepOptions& train) {
    schema.section("train", "The steps.");
    schema.option("train.epochs", train.epochs, "passes over the training data").at_least(0);
    schema.option("train.max_steps", train.max_steps, "stop after so many steps, if that is earlier; 0: no limit")
        .at_least(0);
    schema.option("train.batch_size", train.batch_size, "samples of one step over all ranks")
        .at_least(1)
        .on_resume(OnResume::fork);
    schema
        .option("train.micro_batch", train.micro_batch,
                "samples of one rank that go through the network at once (gradients add up); 0: all")
        .at_least(0)
        .advanced();
    schema
        .option("train.balance", train.balance,
                "shares of the batch: equal on all ranks, or dlb: so that ranks of unequal speed finish together")
        .choices({"none", "dlb"});
    schema.option("train.loss", train.loss, "auto: cross-entropy for classes and tokens, mse for regression")
        .choices({"auto", "cross-entropy", "mse"})
        .on_resume(OnResume::fork);
    schema.option("train.precision", train.precision, "arithmetic of forward and backward; bf16: autocast")
        .choices({"float32", "float64", "bf16"})
        .on_resume(OnResume::fork);
    schema.option("train.device", train.device, "where the network is computed; auto: on a GPU if there is one that can be used")
        .choices({"auto", "cpu", "cuda"});
    schema.option("train.threads", train.threads, "threads of one rank; 0: its share of the cores").range(0, 1024);
    schema.option("train.clip_norm", train.clip_norm, "largest global norm of the gradient; 0: no limit")
        .at_least(0.0)
        .on_resume(OnResume::fork);
    schema.option("train.eval_every", train.eval_every, "epochs between evaluations; 0: never").at_least(0);
    schema.option("train.inject", train.inject, "for tests: nan, kill, kill-evaluation, kill-save, crash, stall or flip@STEP:RANK; slow@MICROSECONDS[:RANK]: each sample takes so long more")
        .advanced();
}

void declare_optimizer(Schema& schema, OptimizerSection& optimizer, ScheduleSection& schedule) {
    schema.section("optimizer", "How gradients become steps.");
    schema.option("optimizer.name", optimizer.name, "the update rule").choices({"sgd", "adamw"}).on_resume(OnResume::refuse);
    schema.option("optimizer.learning_rate", optimizer.learning_rate, "base learning rate")
        .above(0.0)
        .on_resume(OnResume::fork);
    schema.option("optimizer.momentum", optimizer.momentum, "sgd: how much of the last step goes on").range(0.0, 1.0).on_resume(OnResume::fork);
    schema.option("optimizer.nesterov", optimizer.nesterov, "sgd: Nesterov's form of momentum").on_resume(OnResume::fork);
    schema.option("optimizer.weight_decay", optimizer.weight_decay, "decay of the weights")
        .at_least(0.0)
        .on_resume(OnResume::fork);
    schema.option("optimizer.beta1", optimizer.beta1, "adamw: decay of the mean gradient").range(0.0, 1.0).on_resume(OnResume::fork).advanced();
    schema.option("optimizer.beta2", optimizer.beta2, "adamw: decay of the mean squared gradient").range(0.0, 1.0).on_resume(OnResume::fork).advanced();
    schema.option("optimizer.epsilon", optimizer.epsilon, "adamw: added to the denominator").above(0.0).on_resume(OnResume::fork).advanced();

    schema.section("schedule", "The learning rate over the run, counted in samples: independent of the rank count.");
    schema.option("schedule.kind", schedule.kind, "shape after the warm-up")
        .choices({"constant", "step", "cosine", "linear"})
        .on_resume(OnResume::fork);
    schema.option("schedule.warmup", schedule.warmup, "samples over which the rate rises linearly from 0")
        .at_least(0)
        .on_resume(OnResume::fork);
    schema.option("schedule.milestones", schedule.milestones, "step: samples after which the rate drops")
        .at_least(1)
        .on_resume(OnResume::fork);
    schema.option("schedule.factor", schedule.factor, "step: what the rate is multiplied by at each milestone")
        .range(0.0, 1.0)
        .on_resume(OnResume::fork);
    schema.option("schedule.final_fraction", schedule.final_fraction, "cosine, linear: the last rate / the base rate")
        .range(0.0, 1.0)
        .on_resume(OnResume::fork);
}

// "WHAT; NAME: DESCRIPTION; ..."
template <class Table>
std::string described(std::string what, const Table& table) {
    for (const auto& entry : table) {
        what += std::string("; ") + entry.name + ": " + entry.description;
    }
    return what;
}

void declare_allreduce(Schema& schema, AllreduceSection& allreduce) {
    schema.section("allreduce", "Summing gradients over the ranks, while backward runs.");
    schema.option("allreduce.transport", allreduce.transport, described("how gradients travel", comm::transports()))
        .choices(names_of(comm::transports()));
    schema.option("allreduce.algorithm", allreduce.algorithm, described("how gradients are summed", comm::algorithms()))
        .choices(names_of(comm::algorithms()));
    schema.option("allreduce.wire", allreduce.wire, described("what float32 gradients travel as", comm::wires()))
        .choices(names_of(comm::wires()));
    schema.option("allreduce.network", allreduce.network,
                  "of tcp: an interface (eth0), a network (10.0.0.0/24), or auto: the fastest that all ranks have");
    schema.option("allreduce.tuning", allreduce.tuning,
                  "choose by this table of mastic-tune, where transport and algorithm are auto");
    schema.option("allreduce.segment", allreduce.segment,
                  "a reduction is cut into pieces of this size; 0: the algorithm's own");
    schema.option("allreduce.depth", allreduce.depth, "pieces of one reduction in flight").range(1, 1024);
    schema.option("allreduce.bucket", allreduce.bucket, "gradients travel together in buckets of this size");
    schema.option("allreduce.first_bucket", allreduce.first_bucket, "size of the first bucket, to start early")
        .advanced();
    schema.option("allreduce.overlap", allreduce.overlap, "reduce while backward runs; false: after it").advanced();
    schema.option("allreduce.poll", allreduce.poll, "how the communication thread waits")
        .choices(names_of(comm::poll_policies()))
        .advanced();
    schema.option("allreduce.stall_report", allreduce.stall_report, "report a reduction that takes longer")
        .above(Seconds{0})
        .advanced();
    schema.option("allreduce.timeout", allreduce.timeout, "end the run (code 7) when a reduction takes longer")
        .above(Seconds{0});
}

void declare_rest(Schema& schema, TrainOptions& options) {
    schema.section("checkpoint", "Saving, in the background, checksummed; the newest valid one wins at the next start.");
    schema.option("checkpoint.every", options.checkpoint.every, "time between checkpoints; 0: none by time")
        .at_least(Seconds{0});
    schema.option("checkpoint.every_steps", options.checkpoint.every_steps, "steps between checkpoints; 0: none by steps")
        .at_least(0);
    schema.option("checkpoint.keep", options.checkpoint.keep, "how many to keep").at_least(1);
    schema.option("checkpoint.best_metric", options.checkpoint.best_metric,
                  "also keep the checkpoint with the best value of this metric of the test data; empty: no")
        .choices({"accuracy", "loss", "mse", "perplexity", ""});
    schema
        .option("checkpoint.use", options.checkpoint.use,
                "which one evaluate, predict and export read: best, newest, a step, or auto: best if there is one")
        .check([](const std::string& use) {
            const bool step = !use.empty() && use.size() < 19 && use.find_first_not_of("0123456789") == use.npos;
            const bool known = step || use == "auto" || use == "best" || use == "newest";
            return known ? std::string() : std::string("'").append(use).append("' is neither auto, best, newest nor a step");
        });
    schema.option("checkpoint.verify", options.checkpoint.verify,
                  "only check the checkpoints of this run directory, and say what is wrong with them")
        .metavar("DIR");

    schema.section("job", "The batch job around the run.");
    schema.option("job.time_limit", options.job.time_limit,
                  "stop with a checkpoint and code 75 after this time; 0: what Slurm says")
        .at_least(Seconds{0});
    schema.option("job.margin", options.job.margin, "time to spare before the limit, besides step and save")
        .at_least(Seconds{0})
        .advanced();
    schema.option("job.bind", options.job.bind, "bind each rank to its own cores, where nobody has").advanced();

    schema.section("output", "What is told while it runs.");
    schema.option("output.log_every", options.output.log_every, "steps between records in metrics.jsonl").at_least(1);
    schema.option("output.level", options.output.level, "least severity of messages")
        .choices({"trace", "debug", "info", "warn", "error", "off"});
    schema.option("output.progress", options.output.progress,
                  "one line that is rewritten; auto: on a terminal, else a line every 10 s")
        .choices({"auto", "always", "never"});
    schema.option("output.trace", options.output.trace, "write a Chrome trace of each rank into the run directory");
    schema.flag("trace", options.trace, "the same as --output.trace");
    schema.flag("print-binding", options.print_binding, "say which cores each rank runs on, then stop");
    schema.flag("fork", options.fork, "go on from a checkpoint although options changed that shape the result");
}

void declare_elastic(Schema& schema, ElasticSection& elastic) {
    schema.section("elastic", "A training whose members come and go: one process a node, without MPI.");
    schema
        .option("elastic.join", elastic.join,
                "found an elastic run in this run directory, which takes the place of run.dir, or join the one that is there")
        .metavar("DIR");
    schema
        .option("elastic.scaling", elastic.scaling,
                "none: members share train.batch_size; else each adds so many samples to a step, and the learning rate grows with "
                "their number (linear) or its root (sqrt)")
        .choices({"none", "linear", "sqrt"})
        .on_resume(OnResume::fork);
    schema
        .option("elastic.timeout", elastic.timeout, "a member that gives no sign of life for so long is lost")
        .at_least(Seconds{0.1})
        .advanced();
    schema.option("elastic.patience", elastic.patience, "how long a newcomer looks for the run's members").advanced();
    schema.option("elastic.rate", elastic.rate, "what a member sends to newcomers a second, at most; 0: no limit").advanced();
}

}  // namespace

void declare_train_options(config::Schema& schema, TrainOptions& options) {
    declare_run(schema, options.run);
    declare_data(schema, options.data);
    declare_model(schema, options.model);
    declare_train(schema, options.train);
    declare_optimizer(schema, options.optimizer, options.schedule);
    declare_allreduce(schema, options.allreduce);
    declare_elastic(schema, options.elastic);
    declare_rest(schema, options);
    job::declare_slurm_options(schema, options.slurm);
    job::declare_print_mpi(schema, options.slurm);
}

}  // namespace mastic::engine
