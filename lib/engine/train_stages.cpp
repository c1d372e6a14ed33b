#include <mastic/engine/train_stages.hpp>

#include <torch/torch.h>

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <spdlog/spdlog.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/log.hpp>
#include <mastic/engine/batch_tensors.hpp>
#include <mastic/engine/data_setup.hpp>
#include <mastic/engine/network_setup.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/engine/torch_errors.hpp>
#include <mastic/job/crash_report.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/registry.hpp>

namespace mastic::engine {

TrainStages::TrainStages(const CommandContext& context, job::SignalWatch& signals)
    : context_(context), options_(context.options), signals_(signals), directory_(options_.run.dir) {}

// OpenBLAS has threads of its own, which torch's setting does not reach when it was built for any BLAS.
void TrainStages::set_threads(int threads) {
    at::set_num_threads(threads);
    using Setter = void (*)(int);
    if (const auto set_blas_threads = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
        set_blas_threads(threads);
    }
}

ArithmeticFacts TrainStages::arithmetic_of(int world_size, int threads) const {
    return {world_size, threads, accelerator_.is_gpu() ? accelerator_.name : context_.blas.core};
}

std::string TrainStages::describe_arithmetic() const {
    if (!accelerator_.is_gpu()) {
        return context_.blas.text;
    }
    return "GPU " + std::to_string(accelerator_.torch_device.index()) + ": " + accelerator_.name;
}

void TrainStages::load_data() {
    comm::run_together(*group_, [this] {
        train_data_ = open_train_data(options_.data);
        test_data_ = open_test_data(options_.data, train_data_->layout());
        if (train_data_->size() < static_cast<std::uint64_t>(group_->size())) {
            throw Error(ExitCode::data, "the training data has " + std::to_string(train_data_->size()) +
                                            " samples, fewer than the " + std::to_string(group_->size()) + " ranks",
                        "start fewer ranks");
        }
        if (options_.train.batch_size < group_->size()) {
            throw Error(ExitCode::usage, "train.batch_size " + std::to_string(options_.train.batch_size) +
                                             " is smaller than the number of ranks, " +
                                             std::to_string(group_->size()),
                        "it counts the samples of all ranks; some would have none");
        }
    });
    if (first()) {
        spdlog::info("training data: {}", train_data_->description());
        if (test_data_) {
            spdlog::info("test data: {}", test_data_->description());
        }
    }
}

void TrainStages::build() {
    comm::run_together(*group_, [this] {
        translate_torch_errors([this] {
            state_.network = make_network(options_, input_spec(train_data_->layout()));
            state_.network->to(accelerator_.torch_device);
            state_.optimizer = make_optimizer(options_, *state_.network);
        });
        planned_samples_ = Trainer::planned_samples(options_, train_data_->size());
        probe();
        schedule_.emplace(make_schedule(options_, planned_samples_));
        faults_ = FaultInjection(options_.train.inject, group_->rank());
    });
    // The seed makes them equal; one machine's library may still round otherwise.
    for (const auto& [name, tensor] : model::named_weights(*state_.network)) {
        torch::Tensor on_host = tensor.detach().cpu();  // the same memory, or a copy of a device's
        comm::BufferView view{on_host.data_ptr(), on_host.nbytes(), DataType::uint8};
        group_->broadcast(view, 0, {0, name});
        tensor.detach().copy_(on_host);
    }
    if (first()) {
        spdlog::info("model {}: {} parameters; learning rate {}",
                     options_.model.file.empty() ? options_.model.name : options_.model.file, model::parameter_count(*state_.network),
                     schedule_->description());
    }
}

// One sample through network and loss: what does not fit together is told now, in a dry run too.
void TrainStages::probe() {
    augmentation_of(options_, train_data_->layout());
    const torch::NoGradGuard no_grad;
    data::Batch batch;
    const std::vector<std::uint64_t> ids = {0};
    train_data_->read(ids, batch);
    const BatchTensors tensors = on_device(tensors_of(batch, train_data_->layout()), accelerator_.torch_device, 0);
    state_.network->eval();
    translate_torch_errors([&] {
        const torch::Tensor outputs =
            state_.network->forward(network_input(tensors.inputs, options_.train.precision));
        model::loss_sum(loss_kind(options_.train.loss, train_data_->layout()), outputs, tensors.targets);
    });
    state_.network->train();
}

std::uint64_t TrainStages::state_bytes() const { return state_.view(arithmetic_).bytes(); }

void TrainStages::describe_dry_run() {
    comm::run_on_first(*group_, [this] {
        const std::uint64_t bytes = state_bytes();
        spdlog::info("a checkpoint has {}; {} are free at {}", human(Bytes{bytes}),
                     human(free_space(directory_.path())), directory_.path().string());
        job::check_space(directory_.path(), Bytes{2 * bytes}, "two checkpoints");
        spdlog::info("dry run: everything is in order; nothing was written");
        return std::string();
    });
}

void TrainStages::claim_directory(bool fresh_start) {
    directory_ = job::RunDirectory::create_or_open(options_.run.dir);
    job::OwnerLock lock = directory_.lock(job::this_process(context_.job.host, context_.job.slurm_job_id));
    job::check_writable(directory_.path());
    if (fresh_start) {
        report::remove_rank_failure(directory_);
        directory_.clear_ranks();
    }
    // Old generations make room for new ones; the first two must fit beside each other.
    const bool first_ones = checkpoint::CheckpointStore(directory_.checkpoints()).list().size() < 2;
    job::check_space(directory_.path(), Bytes{(first_ones ? 2 : 1) * state_bytes()},
                     first_ones ? "two checkpoints" : "a checkpoint");
    lock_.emplace(std::move(lock));
}

void TrainStages::open_rank_files(int rank) {
    recorder_ = job::FlightRecorder(directory_.last_moment_file(rank), rank, context_.job.host);
    job::report_crashes_to(directory_.crash_file(rank));
}

void TrainStages::open_trace(int process, const std::string& name) {
    if (options_.output.trace || options_.trace) {
        trace_ = Trace(directory_.trace_file(process), process, name);
    }
}

// A run whose record or pin tells of checkpoints must not start over because they are gone.
void TrainStages::check_nothing_was_lost() {
    const bool pinned = std::filesystem::exists(directory_.checkpoints() / "best.json");
    const std::vector<std::string> saved = files_->earlier_checkpoints();
    if (pinned || !saved.empty()) {
        throw Error(ExitCode::checkpoint,
                    "this run has saved checkpoints" + (saved.empty() ? "" : " (" + saved.back() + ")") + ", but none is in " +
                        directory_.checkpoints().string(),
                    "bring them back, or start anew in another --run.dir");
    }
    if (files_->earlier_steps() > 0) {
        spdlog::warn("starting over at step 0: the start before this one ended without a checkpoint");
    }
}

// best.json pins the best checkpoint. One that is damaged or lost is written anew or, if that checkpoint is gone, removed:
// then all ranks forget the best value as well, so that they agree on which one is the next best.
void TrainStages::repair_pin() {
    const std::string forget = comm::run_on_first(*group_, [this] { return std::string(pin_holds() ? "" : "forget"); });
    if (!forget.empty()) {
        state_.best.reset();
    }
}

// Rank 0's part: false if there is no checkpoint left to pin.
bool TrainStages::pin_holds() {
    const checkpoint::CheckpointStore store(directory_.checkpoints());
    try {
        if (store.best() || !state_.best) {
            return true;
        }
    } catch (const Error& error) {
        spdlog::warn("{}", error.what());
    }
    for (const checkpoint::GenerationPath& generation : store.list()) {
        if (state_.best && generation.step == static_cast<std::uint64_t>(state_.best->step)) {
            store.pin_best(generation.step);
            spdlog::warn("best.json is written anew: step {}", generation.step);
            return true;
        }
    }
    std::filesystem::remove(directory_.checkpoints() / "best.json");
    return false;
}

// Rank 0 looks for it; its step as text, or "" if there is none.
std::string TrainStages::newest_checkpoint() {
    const checkpoint::CheckpointStore store(directory_.checkpoints());
    const auto newest = store.newest_valid();
    if (!newest) {
        check_nothing_was_lost();
        if (options_.run.resume == "require") {
            throw Error(ExitCode::checkpoint, "no checkpoint in " + directory_.checkpoints().string(),
                        "--run.resume auto starts from the beginning");
        }
        return "";
    }
    if (options_.run.resume == "never") {
        throw Error(ExitCode::usage, directory_.path().string() + " already has checkpoints",
                    "choose another --run.dir, or go on with --run.resume auto");
    }
    for (const checkpoint::Skipped& skipped : newest->skipped) {
        spdlog::warn("checkpoint {} is not usable and skipped: {}", skipped.generation, skipped.reason);
    }
    check_stored_config(context_, directory_);
    return std::to_string(newest->manifest.step);
}

void TrainStages::resume() {
    const std::string step = comm::run_on_first(*group_, [this] {
        std::string found = newest_checkpoint();
        files_->store_config(context_);
        return found;
    });
    if (step.empty()) {
        return;
    }
    comm::run_together(*group_, [&] {
        const checkpoint::CheckpointStore store(directory_.checkpoints());
        const auto restored = store.restore(checkpoint::Selection::at_step(std::stoull(step)));
        const ArithmeticFacts before = state_.restore(restored->state);
        if (first()) {
            spdlog::info("resumed at step {}, epoch {}, {} of {} samples seen", state_.step, state_.position.epoch + 1,
                         state_.samples, planned_samples_);
            if (!(before == arithmetic_)) {
                spdlog::warn("going on with {} ranks x {} threads ({}) after {} x {} ({}): same samples and learning "
                             "rate, results equal up to rounding",
                             arithmetic_.world_size, arithmetic_.threads, arithmetic_.blas_core, before.world_size,
                             before.threads, before.blas_core);
            }
        }
    });
    repair_pin();
}

}  // namespace mastic::engine
