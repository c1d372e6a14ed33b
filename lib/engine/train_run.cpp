#include <torch/torch.h>

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <cstdio>

#include <spdlog/spdlog.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/log.hpp>
#include <mastic/engine/batch_tensors.hpp>
#include <mastic/engine/data_setup.hpp>
#include <mastic/engine/network_setup.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/engine/reduction_group.hpp>
#include <mastic/engine/torch_errors.hpp>
#include <mastic/engine/train_run.hpp>
#include <mastic/job/batch/srun_mpi.hpp>
#include <mastic/job/crash_report.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/registry.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::engine {
namespace {

// OpenBLAS has threads of its own, which torch's setting does not reach when it was built for any BLAS.
void set_threads(int threads) {
    at::set_num_threads(threads);
    using Setter = void (*)(int);
    if (const auto set_blas_threads = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
        set_blas_threads(threads);
    }
}

}  // namespace

TrainRun::TrainRun(const CommandContext& context, comm::MpiSession& session, job::SignalWatch& signals)
    : context_(context), options_(context.options), session_(session), signals_(signals), directory_(options_.run.dir) {}

TrainResult TrainRun::run() {
    place();
    if (options_.print_binding) {
        return {};
    }
    load_data();
    build();
    if (context_.invocation.dry_run) {
        describe_dry_run();
        return {};
    }
    open_directory();
    resume();
    return train();
}

// Who is where, and on which cores: a mask that all ranks of a node share is the node's, not a rank's.
job::CpuView TrainRun::survey(comm::Group& group) {
    hosts_ = group.allgather_strings(context_.job.host);
    job::CpuView cpus = job::observe_cpus();
    const std::string mask = job::compact_ranges(cpus.bound);
    const std::vector<std::string> masks = group.allgather_strings(mask);
    cpus.bound_is_shared = session_.local_size() > 1;
    for (std::size_t rank = 0; rank < masks.size(); ++rank) {
        cpus.bound_is_shared &= hosts_[rank] != context_.job.host || masks[rank] == mask;
    }
    return cpus;
}

void TrainRun::place() {
    job::check_singleton(session_.size(), context_.job, job::required_srun_mpi(comm::mpi_library_text()));
    const auto exchange = session_.make_group({.transport = comm::TransportKind::native});
    const job::CpuView cpus = survey(*exchange);
    int threads = static_cast<int>(options_.train.threads);
    if (threads == 0) {
        threads = job::default_threads(cpus, session_.local_size());
    }
    const job::Binding binding = options_.job.bind
                                     ? job::bind_rank(cpus, session_.local_rank(), session_.local_size())
                                     : job::present_binding(cpus);
    spdlog::debug("{}", job::describe(binding, threads));
    if (options_.print_binding) {
        print_bindings(*exchange, binding, threads);
        return;
    }
    set_threads(threads);
    arithmetic_ = {session_.size(), threads, context_.blas.core};
    group_ = make_reduction_group(session_, *exchange, options_.allreduce, threads);
    if (first()) {
        spdlog::info("{}; {} thread{} a rank", group_->description(), threads, threads == 1 ? "" : "s");
        spdlog::info("{}", context_.blas.text);
    }
}

void TrainRun::print_bindings(comm::Group& group, const job::Binding& own, int threads) const {
    const std::vector<std::string> cpus = group.allgather_strings(job::compact_ranges(own.pus));
    const std::vector<std::string> cores = group.allgather_strings(std::to_string(own.cores));
    const std::vector<std::string> thread_counts = group.allgather_strings(std::to_string(threads));
    const std::vector<std::string> reasons = group.allgather_strings(own.reason);
    report::TextTable table{{"rank", "host", "CPUs", "cores", "threads", "how"}, {}};
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
        table.rows.push_back(
            {std::to_string(rank), hosts_[rank], cpus[rank], cores[rank], thread_counts[rank], reasons[rank]});
    }
    if (first()) {
        std::fputs(to_text(table).c_str(), stdout);
    }
}

void TrainRun::load_data() {
    comm::run_together(*group_, [this] {
        train_data_ = open_train_data(options_.data);
        test_data_ = open_test_data(options_.data, train_data_->layout());
        if (train_data_->size() < static_cast<std::uint64_t>(session_.size())) {
            throw Error(ExitCode::data, "the training data has " + std::to_string(train_data_->size()) +
                                            " samples, fewer than the " + std::to_string(session_.size()) + " ranks",
                        "start fewer ranks");
        }
        if (options_.train.batch_size < session_.size()) {
            throw Error(ExitCode::usage, "train.batch_size " + std::to_string(options_.train.batch_size) +
                                             " is smaller than the number of ranks, " +
                                             std::to_string(session_.size()),
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

void TrainRun::build() {
    comm::run_together(*group_, [this] {
        translate_torch_errors([this] {
            state_.network = make_network(options_, input_spec(train_data_->layout()));
            state_.optimizer = make_optimizer(options_, *state_.network);
        });
        planned_samples_ = Trainer::planned_samples(options_, train_data_->size());
        probe();
        schedule_.emplace(make_schedule(options_, planned_samples_));
        faults_ = FaultInjection(options_.train.inject, session_.rank());
    });
    // The seed makes them equal; one machine's library may still round otherwise.
    for (const auto& [name, tensor] : model::named_weights(*state_.network)) {
        comm::BufferView view{tensor.data_ptr(), tensor.nbytes(), DataType::uint8};
        group_->broadcast(view, 0, {0, name});
    }
    if (first()) {
        spdlog::info("model {}: {} parameters; learning rate {}",
                     options_.model.file.empty() ? options_.model.name : options_.model.file, model::parameter_count(*state_.network),
                     schedule_->description());
    }
}

// One sample through network and loss: what does not fit together is told now, in a dry run too.
void TrainRun::probe() {
    augmentation_of(options_, train_data_->layout());
    const torch::NoGradGuard no_grad;
    data::Batch batch;
    const std::vector<std::uint64_t> ids = {0};
    train_data_->read(ids, batch);
    const BatchTensors tensors = tensors_of(batch, train_data_->layout());
    state_.network->eval();
    translate_torch_errors([&] {
        const torch::Tensor outputs =
            state_.network->forward(network_input(tensors.inputs, options_.train.precision));
        model::loss_sum(loss_kind(options_.train.loss, train_data_->layout()), outputs, tensors.targets);
    });
    state_.network->train();
}

std::uint64_t TrainRun::state_bytes() const { return state_.view(arithmetic_).bytes(); }

void TrainRun::describe_dry_run() {
    comm::run_on_first(*group_, [this] {
        const std::uint64_t bytes = state_bytes();
        spdlog::info("a checkpoint has {}; {} are free at {}", human(Bytes{bytes}),
                     human(free_space(directory_.path())), directory_.path().string());
        if (!context_.job.slurm_job_id.empty()) {
            spdlog::info("this MPI library needs srun --mpi={}", job::required_srun_mpi(comm::mpi_library_text()));
        }
        job::check_space(directory_.path(), Bytes{2 * bytes}, "two checkpoints");
        spdlog::info("dry run: everything is in order; nothing was written");
        return std::string();
    });
}

void TrainRun::open_directory() {
    comm::run_on_first(*group_, [this] {
        directory_ = job::RunDirectory::create_or_open(options_.run.dir);
        lock_.emplace(directory_.lock(job::this_process(context_.job.host, context_.job.slurm_job_id)));
        job::check_writable(directory_.path());
        report::remove_rank_failure(directory_);
        directory_.clear_ranks();
        // Old generations make room for new ones; the first two must fit beside each other.
        const bool first_ones = checkpoint::CheckpointStore(directory_.checkpoints()).list().size() < 2;
        job::check_space(directory_.path(), Bytes{(first_ones ? 2 : 1) * state_bytes()},
                         first_ones ? "two checkpoints" : "a checkpoint");
        return std::string();
    });
    comm::run_together(*group_, [this] {
        setup_log({session_.rank(), session_.size(), directory_.log_file(session_.rank()), options_.output.level});
        recorder_ = job::FlightRecorder(directory_.last_moment_file(session_.rank()), session_.rank(), context_.job.host);
        job::report_crashes_to(directory_.crash_file(session_.rank()));
        if (options_.output.trace || options_.trace) {
            trace_ = Trace(directory_.trace_file(session_.rank()), session_.rank(),
                           "rank " + std::to_string(session_.rank()));
        }
    });
    if (first()) {
        files_ = std::make_unique<RunFiles>(directory_, context_, hosts_, planned_samples_);
    }
}

// A run whose record or pin tells of checkpoints must not start over because they are gone.
void TrainRun::check_nothing_was_lost() {
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
void TrainRun::repair_pin() {
    const std::string forget = comm::run_on_first(*group_, [this] { return std::string(pin_holds() ? "" : "forget"); });
    if (!forget.empty()) {
        state_.best.reset();
    }
}

// Rank 0's part: false if there is no checkpoint left to pin.
bool TrainRun::pin_holds() {
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
std::string TrainRun::newest_checkpoint() {
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

void TrainRun::resume() {
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

TrainResult TrainRun::train() {
    const job::EndTime end = job::limit_end_time(
        first() ? job::find_end_time(context_.job.slurm_job_id, process_environment(), run_command) : job::EndTime{},
        std::chrono::system_clock::now(),
        options_.job.time_limit.count() > 0 ? std::optional(options_.job.time_limit) : std::nullopt);
    job::StopPlanner planner(end.at, options_.job.margin);
    const model::LossKind kind = loss_kind(options_.train.loss, train_data_->layout());
    std::optional<Evaluator> evaluator;
    if (test_data_) {
        evaluator.emplace(test_data_, *group_, evaluator_options(options_, train_data_->layout()));
    }
    checkpoint::StoreOptions store;
    store.retention.keep_last = static_cast<int>(options_.checkpoint.keep);
    Checkpointer checkpointer(directory_.checkpoints(), store, hosts_, *group_, trace_);
    std::optional<report::Progress> progress;
    if (first()) {
        if (options_.output.progress != "never") {
            progress.emplace(progress_options(options_.output.progress));
        }
        files_->started(state_);
    }
    TrainResult result;
    {
        Trainer trainer({options_, *group_, train_data_, evaluator ? &*evaluator : nullptr, state_, kind, arithmetic_,
                         *schedule_, checkpointer, signals_, planner, faults_, trace_, recorder_,
                         files_ ? &files_->metrics() : nullptr, progress ? &*progress : nullptr});
        result = trainer.run();
    }
    trace_.flush();
    if (first()) {
        files_->finished(result, state_, checkpointer.committed_step());
    }
    return result;
}

}  // namespace mastic::engine
