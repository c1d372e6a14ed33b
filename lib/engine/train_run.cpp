#include <mastic/engine/train_run.hpp>

#include <algorithm>
#include <cstdio>

#include <spdlog/spdlog.h>

#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/core/log.hpp>
#include <mastic/engine/data_setup.hpp>
#include <mastic/engine/network_setup.hpp>
#include <mastic/engine/reduction_group.hpp>
#include <mastic/engine/time_limit.hpp>
#include <mastic/job/batch/srun_mpi.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::engine {

TrainResult TrainRun::run() {
    place();
    if (options_.print_binding) {
        return {};
    }
    load_data();
    build();
    if (context_.invocation.dry_run) {
        if (first() && !context_.job.slurm_job_id.empty()) {
            spdlog::info("this MPI library needs srun --mpi={}", job::required_srun_mpi(comm::mpi_library_text()));
        }
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
    open_accelerators(*exchange);
    arithmetic_ = arithmetic_of(session_.size(), threads);
    group_ = make_reduction_group(session_, *exchange, options_.allreduce, threads, accelerator_);
    if (first()) {
        spdlog::info("{}; {} thread{} a rank", group_->description(), threads, threads == 1 ? "" : "s");
        spdlog::info("{}", describe_arithmetic());
    }
}

// All on GPUs or none: a rank on its cores would hold up the others in each step.
void TrainRun::open_accelerators(comm::Group& group) {
    comm::run_together(group, [this] { accelerator_ = open_accelerator(options_.train.device, session_.local_rank(), *context_.gpus); });
    const std::vector<std::string> names = group.allgather_strings(accelerator_.name);
    const auto without = std::ranges::find(names, "");
    if (without != names.end() && std::ranges::any_of(names, [](const std::string& name) { return !name.empty(); })) {
        const auto rank = static_cast<std::size_t>(without - names.begin());
        throw AgreedError(ExitCode::environment,
                          "rank " + std::to_string(rank) + " on " + hosts_[rank] + " has no GPU that can be used, and others have",
                          "ask Slurm for a GPU for each task (--gpus-per-task=1), or use --train.device cpu");
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
    if (session_.rank() == 0) {
        std::fputs(to_text(table).c_str(), stdout);
    }
}

void TrainRun::open_directory() {
    comm::run_on_first(*group_, [this] {
        claim_directory(true);
        return std::string();
    });
    comm::run_together(*group_, [this] {
        const int rank = session_.rank();
        setup_log({rank, session_.size(), directory_.log_file(rank), options_.output.level});
        open_rank_files(rank);
        open_trace(rank, "rank " + std::to_string(rank));
    });
    if (first()) {
        files_ = std::make_unique<RunFiles>(directory_, context_, hosts_, planned_samples_);
    }
}

TrainResult TrainRun::train() {
    TimeLimit time_limit(context_, first());
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
    std::function<void(const report::MetricsRecord&)> metrics;
    if (files_) {
        metrics = [this](const report::MetricsRecord& record) { files_->metrics().write(record); };
    }
    TrainResult result;
    {
        Trainer trainer({options_, *group_, train_data_, evaluator ? &*evaluator : nullptr, state_, kind, arithmetic_,
                         *schedule_, &checkpointer, signals_, time_limit.planner(), faults_, trace_, recorder_,
                         metrics, progress ? &*progress : nullptr});
        result = trainer.run();
    }
    trace_.flush();
    if (first()) {
        files_->finished(result, state_, checkpointer.committed_step());
    }
    return result;
}

}  // namespace mastic::engine
