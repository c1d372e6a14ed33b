#include <mastic/engine/elastic_run.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <thread>
#include <utility>

#include <unistd.h>

#include <spdlog/spdlog.h>

#include <mastic/comm/collective/tcp_group.hpp>
#include <mastic/core/agreed_error.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/log.hpp>
#include <mastic/config/resolved.hpp>
#include <mastic/config/text.hpp>
#include <mastic/core/version.hpp>
#include <mastic/engine/admission.hpp>
#include <mastic/engine/batch_scaling.hpp>
#include <mastic/engine/data_setup.hpp>
#include <mastic/engine/network_setup.hpp>
#include <mastic/engine/reduction_group.hpp>
#include <mastic/job/binding.hpp>

namespace mastic::engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_tries_to_lead{500};
constexpr std::chrono::seconds hand_over{10};            // of the directory, by the one that led before
constexpr std::chrono::seconds longest_hand_over{60};
constexpr std::uint64_t enough_for_the_last_steps = 1 << 16;  // bytes of metrics.jsonl

// Steps of a newcomer alone, to see how fast it is: the first ones are slower than those of a training.
constexpr int steps_to_warm_up = 1;
constexpr int steps_of_a_size = 3;

// Of several the one that comes first: of two members the older is believed.
const std::string& most_frequent(const std::vector<std::string>& words) {
    return *std::ranges::max_element(
        words, {}, [&](const std::string& word) { return std::ranges::count(words, word); });
}

class CountedSteps : public StepMembership {
  public:
    explicit CountedSteps(int count) : left_(count) {}
    void begin() override {}
    std::int64_t next_generation() override { return 0; }
    bool take_checkpoint_wish() override { return false; }
    void leave(job::StopReason) override {}
    bool hands_over(std::int64_t, job::StopReason) override { return false; }
    void applied(std::shared_ptr<const gradient::FlatGradients>, const AppliedStep&, std::int64_t) override {}
    bool ends_after(std::int64_t) override { return --left_ == 0; }
    std::optional<Lead> take_lead() override { return std::nullopt; }

  private:
    int left_;
};

// What members need not share. A path may be another one on another node, so of what lies there the numbers of samples count.
const std::vector<std::string> own_options = {"run.", "elastic.join", "elastic.timeout", "elastic.patience", "elastic.rate",
                                              "output.", "job.", "slurm.", "checkpoint.", "train.threads", "train.inject",
                                              "allreduce.network", "allreduce.tuning", "allreduce.transport",
                                              "data.train_inputs", "data.train_targets", "data.test_inputs",
                                              "data.test_targets"};

std::string fingerprint_of(const config::Schema& schema, const std::string& samples) {
    const std::string text = config::fingerprint(schema, own_options) + samples;
    return to_hex(checksum(std::as_bytes(std::span(text))));
}

// "optimizer.learning_rate is 0.1 here and 0.05 in the run"; "" if it is something else, or the run has stored nothing yet.
std::string differences(const config::Schema& schema, const std::filesystem::path& stored) {
    std::vector<std::string> lines;
    try {
        for (const config::Change& change : config::compare(schema, read_text_file(stored), stored.string())) {
            const bool own = std::ranges::any_of(own_options, [&](const std::string& key) { return change.key.starts_with(key); });
            if (!own) {
                lines.push_back(change.key + " is " + change.now + " here and " + change.stored + " in the run");
            }
        }
    } catch (const Error&) {
        return "";
    }
    return config::join(lines, ", ");
}

}  // namespace

class ElasticRun::Steps : public StepMembership {
  public:
    explicit Steps(ElasticRun& run) : run_(run) {}
    void begin() override { run_.membership_->catch_up(); }

    std::int64_t next_generation() override { return run_.membership_->pending(); }
    bool take_checkpoint_wish() override { return run_.membership_->take_checkpoint_wish(); }
    void applied(std::shared_ptr<const gradient::FlatGradients> gradients, const AppliedStep& step,
                 std::int64_t agreed_generation) override {
        run_.membership_->keep(run_.state_.step, run_.shared_->record(std::move(gradients), step), agreed_generation);
    }
    void leave(job::StopReason reason) override {
        if (leaving_ == job::StopReason::none) {
            spdlog::info("{}: leaving at the next step boundary", job::to_string(reason));
            leaving_ = reason;
            run_.membership_->leave();
        }
    }
    bool hands_over(std::int64_t agreed_generation, job::StopReason reason) override {
        const bool others_come = agreed_generation > static_cast<std::int64_t>(run_.membership_->generation().id);
        if (others_come) {
            leave(reason);
        }
        return others_come;
    }
    bool ends_after(std::int64_t agreed_generation) override {
        if (std::exchange(run_.unproven_, false)) {
            run_.check_equal_weights();
        }
        boundary_ = run_.membership_->at_boundary(run_.state_.step, agreed_generation);
        run_.record_events();
        return boundary_ != elastic::Boundary::stays;
    }
    std::optional<Lead> take_lead() override {
        if (!run_.try_to_lead(false)) {
            return std::nullopt;
        }
        return Lead{run_.checkpointer_.get(), run_.progress_ ? &*run_.progress_ : nullptr, run_.started_};
    }

    bool has_left() const { return boundary_ == elastic::Boundary::left; }
    bool needs_a_new_group() const { return boundary_ == elastic::Boundary::changed; }
    job::StopReason leaving() const { return leaving_; }
    void set_left() { boundary_ = elastic::Boundary::left; }
    void expect_new_group() { boundary_ = elastic::Boundary::changed; }

  private:
    ElasticRun& run_;
    elastic::Boundary boundary_ = elastic::Boundary::changed;
    job::StopReason leaving_ = job::StopReason::none;
};

ElasticRun::ElasticRun(const CommandContext& context, job::SignalWatch& signals) : TrainStages(context, signals) {}
// The directory first: once nobody is alive, another process may begin anew there.
ElasticRun::~ElasticRun() {
    checkpointer_.reset();
    files_.reset();
    lock_.reset();
}

TrainResult ElasticRun::run() {
    place();
    load_data();
    build();
    if (context_.invocation.dry_run) {
        describe_dry_run();
        return {};
    }
    try {
        join();
    } catch (const elastic::Left&) {
        TrainResult result;
        result.code = ExitCode::requeue;
        result.reason = std::string(job::to_string(signals_.stop_reason())) + " before this process had joined the run";
        spdlog::info("{}", result.reason);
        return result;
    } catch (const elastic::Unneeded& unneeded) {
        TrainResult result;
        result.reason = std::string("the run does not need this process: ") + unneeded.what();
        spdlog::info("{}", result.reason);
        return result;
    }
    return train();
}

void ElasticRun::place() {
    if (options_.train.max_steps > 0 && parse_batch_scaling(options_.elastic.scaling) != BatchScaling::none) {
        throw Error(ExitCode::usage, "train.max_steps with elastic.scaling: how many samples the run has, and so its learning rates, "
                                     "would depend on who comes",
                    "limit the run by train.epochs");
    }
    hosts_ = {context_.job.host};
    const job::CpuView cpus = job::observe_cpus();
    threads_ = options_.train.threads > 0 ? static_cast<int>(options_.train.threads) : job::default_threads(cpus, 1);
    set_threads(threads_);
    accelerator_ = open_accelerator(options_.train.device, 0, *context_.gpus);
    arithmetic_ = arithmetic_of(1, threads_);
    solo_ = make_solo_group();
    group_ = solo_;  // until there is a generation
    spdlog::info("{} thread{}; {}", threads_, threads_ == 1 ? "" : "s", describe_arithmetic());
}

std::shared_ptr<comm::Group> ElasticRun::make_solo_group() const {
    comm::ListeningSocket listener(comm::SocketAddress::parse("127.0.0.1").value());
    comm::TcpTable table;
    table.peers.push_back({0, context_.job.host, listener.address()});
    table.token = comm::random_token();
    return comm::TcpGroup::open(std::move(table), std::move(listener), reduction_options(options_.allreduce, threads_, accelerator_));
}

void ElasticRun::join() {
    directory_ = job::RunDirectory::create_or_open(options_.run.dir);
    const std::string name = context_.job.host + "-" + std::to_string(getpid());
    setup_log({0, 1, directory_.logs() / ("member-" + name + ".log"), options_.output.level});
    open_trace(getpid(), name);
    shared_ = std::make_unique<ElasticState>(state_, bucket_options(options_.allreduce), arithmetic_);
    shared_->on_step_of_others([this](const AppliedStep& step) { record_step_of_others(step); });
    elastic::MembershipOptions membership;
    membership.directory = directory_.path() / "elastic";
    membership.version = std::string(version()) + (accelerator_.is_gpu() ? " on a GPU" : "");  // an update has other bits there
    membership.fingerprint = fingerprint_of(
        context_.schema, std::to_string(train_data_->size()) + " " + std::to_string(test_data_ ? test_data_->size() : 0));
    membership.network = options_.allreduce.network;
    membership.timing.timeout = options_.elastic.timeout;
    membership.timing.heartbeat = options_.elastic.timeout / 3;
    membership.join = options_.elastic.patience;
    membership.enter_behind = true;
    membership.must_end = [this] { return signals_.stop_reason() != job::StopReason::none; };
    membership.rate = options_.elastic.rate;
    membership.group = reduction_options(options_.allreduce, threads_, accelerator_);
    if (options_.train.balance == "dlb") {
        let_in_who_helps(membership);
    }
    try {
        membership_ = std::make_unique<elastic::Membership>(membership, *shared_);
    } catch (const elastic::Refused& refused) {
        const std::string what = differences(context_.schema, directory_.config_file());
        throw what.empty() ? static_cast<const Error&>(refused)
                           : Error(refused.code(), "this process may not join the run: " + what,
                                   "start it with the run's configuration, " + directory_.config_file().string());
    }
    if (membership_->founded()) {
        try_to_lead(true);
        resume();
        shared_->note_buffers();
    } else {
        spdlog::info("joined the run at step {}, epoch {}", state_.step, state_.position.epoch + 1);
    }
    time_limit_.emplace(context_, true);
}

void ElasticRun::let_in_who_helps(elastic::MembershipOptions& membership) {
    shared_->on_newcomer([this] { try_own_speed(); });
    membership.offer = [this] {
        const auto own = costs_.own();
        return own ? to_offer(*own) : "";
    };
    membership.why_not = [this](const std::string& offer, std::size_t members) {
        return why_not_needed(costs_.all(), members, offer, batch_of(members), batch_of(members + 1));
    };
}

// Of all members together.
std::uint64_t ElasticRun::batch_of(std::size_t members) const {
    return scaled_batch(parse_batch_scaling(options_.elastic.scaling), static_cast<std::uint64_t>(options_.train.batch_size), members);
}

// With the data and the network of the run, before it has the run's weights; two sizes tell what each step costs besides.
void ElasticRun::try_own_speed() {
    const auto batch = static_cast<std::uint64_t>(options_.train.batch_size);
    const std::uint64_t half = std::max<std::uint64_t>(batch / 2, 1), quarter = std::max<std::uint64_t>(batch / 4, 1);
    StepCosts nobody;
    trial_steps(half, steps_to_warm_up, nobody);
    trial_steps(half, steps_of_a_size, costs_);
    trial_steps(quarter, steps_of_a_size, costs_);
}

void ElasticRun::trial_steps(std::uint64_t batch, int count, StepCosts& costs) {
    TrainOptions trial = options_;
    trial.train.batch_size = static_cast<std::int64_t>(batch);
    trial.train.balance = "none";
    trial.elastic.scaling = "none";
    trial.train.max_steps = 0;
    trial.train.epochs = std::numeric_limits<std::int64_t>::max();
    trial.train.eval_every = 0;
    trial.checkpoint.every = Seconds(0);
    trial.checkpoint.every_steps = 0;
    CountedSteps steps(count);
    Checkpointer nobody(directory_.checkpoints(), {}, {}, *solo_, trace_);
    job::StopPlanner endless(std::nullopt, Seconds(0));
    TrainerParts parts{trial, *solo_, train_data_, nullptr, state_,
                       loss_kind(options_.train.loss, train_data_->layout()), arithmetic_, *schedule_, &nobody, signals_, endless,
                       faults_, trace_, recorder_, {}, nullptr, &steps, started_, &costs};
    Trainer(parts).run();
}

// Rank 0 leads once it has the lock of the directory, which the one before it may hold until it has written its last words.
bool ElasticRun::try_to_lead(bool founder) {
    const bool too_soon = !founder && Clock::now() - last_try_to_lead_ < between_tries_to_lead;
    return !files_ && membership_->rank() == 0 && !too_soon && lead(founder);
}

bool ElasticRun::lead(bool founder) {
    last_try_to_lead_ = Clock::now();
    try {
        claim_directory(founder);
    } catch (const Error& error) {
        if (founder) {
            throw;
        }
        spdlog::debug("cannot lead yet: {}", error.what());
        complain_of_not_leading(error);
        return false;
    }
    cannot_lead_since_.reset();
    files_ = std::make_unique<RunFiles>(directory_, context_, hosts_, planned_samples_);
    if (options_.output.progress != "never") {
        progress_.emplace(progress_options(options_.output.progress));
    }
    if (!founder) {
        started_ = Clock::now();
        files_->store_config(context_);
        const report::Metrics written = report::read_metrics(directory_.metrics_file(), enough_for_the_last_steps);
        files_->started(state_);
        backlog_.hand_to(files_->metrics(), written);
        spdlog::info("leading the run from step {}", state_.step);
    }
    checkpoint::StoreOptions store;
    store.retention.keep_last = static_cast<int>(options_.checkpoint.keep);
    checkpointer_ = std::make_unique<Checkpointer>(directory_.checkpoints(), store, hosts_, *solo_, trace_);
    return true;
}

// It takes the one before a moment to write its last words.
void ElasticRun::complain_of_not_leading(const Error& error) {
    const auto now = Clock::now();
    const std::string what = error.full_message();
    if (now - cannot_lead_since_.value_or(now) > hand_over && what != complaint_) {
        spdlog::warn("nobody writes checkpoints and metrics of this run: {}", what);
        complaint_ = what;
    }
    cannot_lead_since_ = cannot_lead_since_.value_or(now);
}

TrainResult ElasticRun::train() {
    if (files_) {
        files_->started(state_);
    }
    Steps steps(*this);
    for (;;) {
        try {
            if (steps.needs_a_new_group()) {
                group_.reset();
                group_ = membership_->make_group();
                begin_generation();
            }
            const TrainResult result = train_generation(steps);
            if (!result.ranks_changed || steps.has_left()) {
                return end(result, steps);
            }
        } catch (const AgreedError&) {
            throw;
        } catch (const elastic::Left&) {
            return end_after_leaving(steps);
        } catch (const Error& error) {
            if (error.code() != ExitCode::collective) {
                throw;
            }
            spdlog::warn("{}", error.what());
            try {
                regroup();
            } catch (const elastic::Left&) {
                return end_after_leaving(steps);
            }
            steps.expect_new_group();
        }
    }
}

void ElasticRun::begin_generation() {
    open_rank_files(group_->rank());
    agree_how_to_begin();
    check_equal_weights();
    std::vector<std::string> hosts = group_->allgather_strings(context_.job.host);
    try_to_lead(false);
    if (files_) {
        files_->members(hosts);
    }
    arithmetic_.world_size = group_->size();
    spdlog::info("generation {}: rank {} of {}, at step {}: {}", membership_->generation().id, group_->rank(), group_->size(),
                 state_.step, membership_->generation().reason);
    record_events();
}

// Who was in an evaluation when a member was lost does it again, with all others; newcomers that lack the last step get no samples.
void ElasticRun::agree_how_to_begin() {
    const std::string late = "late", evaluation = "evaluation";
    const bool was_broken_off = pending_.evaluation == state_.step;
    const std::vector<std::string> words = group_->allgather_strings(membership_->is_behind() ? late : was_broken_off ? evaluation : "");
    evaluate_first_ = std::ranges::count(words, evaluation) > 0;
    late_ranks_.clear();
    unproven_ = std::ranges::count(words, late) > 0;
    if (unproven_) {
        std::ranges::transform(words, std::back_inserter(late_ranks_), [&](const std::string& word) { return word == late; });
    }
}

// Members that disagree must not go on together: each would train another network. Those with the weights that most have go on.
// Newcomers do not count: they have what another one has, until a group has found them equal; those that lack the last step are
// asked after the next one. (One that leaves here may break
// the exchange of the others, who ask again without it.)
void ElasticRun::check_equal_weights() {
    const bool behind = membership_->is_behind();
    const std::string own = behind ? "" : to_hex(shared_->fingerprint());
    const std::string newcomers_mark = "newcomer ";
    std::vector<std::string> sums = group_->allgather_strings(newcomer_ ? newcomers_mark + own : own);
    if (behind) {
        return;
    }
    std::vector<std::string> votes, of_newcomers;
    for (std::string& sum : sums) {
        if (!sum.starts_with(newcomers_mark)) {
            votes.push_back(sum);
            continue;
        }
        sum.erase(0, newcomers_mark.size());
        if (!sum.empty()) {
            of_newcomers.push_back(sum);
        }
    }
    const std::string right = most_frequent(votes.empty() ? of_newcomers : votes);
    const std::string after = " after step " + std::to_string(state_.step);
    if (own != right) {
        if (newcomer_) {
            throw AgreedError(ExitCode::requeue, "this newcomer has its weights from a member that leaves" + after, "start it again");
        }
        throw AgreedError(ExitCode::collective, "this member has other weights than the others" + after,
                          "the others go on without it. Do all members run the same program on processors of one kind, with sound "
                          "memory?");
    }
    newcomer_ = false;
    const auto odd = std::ranges::find_if(sums, [&](const std::string& sum) { return !sum.empty() && sum != right; });
    if (odd != sums.end()) {
        throw Error(ExitCode::collective, "rank " + std::to_string(odd - sums.begin()) + " has other weights than the others" +
                                              after + ": it leaves the run");
    }
}

TrainResult ElasticRun::train_generation(Steps& steps) {
    std::optional<Evaluator> evaluator;
    if (test_data_) {
        evaluator.emplace(test_data_, *group_, evaluator_options(options_, train_data_->layout()));
    }
    Checkpointer nobody(directory_.checkpoints(), {}, {}, *group_, trace_);  // another member saves
    TrainerParts parts{options_, *group_, train_data_, evaluator ? &*evaluator : nullptr, state_,
                       loss_kind(options_.train.loss, train_data_->layout()), arithmetic_, *schedule_,
                       checkpointer_ ? checkpointer_.get() : &nobody, signals_, time_limit_->planner(), faults_, trace_, recorder_,
                       [this](const report::MetricsRecord& record) { this->record(record); }, progress_ ? &*progress_ : nullptr, &steps, started_, &costs_, &pending_, evaluate_first_, late_ranks_};
    return Trainer(parts).run();
}

void ElasticRun::regroup() {
    group_.reset();
    shared_->roll_back();
    membership_->regroup(state_.step);
    record_events();
}

// The history has no hole where the one that wrote it goes before it has written this step.
void ElasticRun::record_step_of_others(const AppliedStep& step) {
    if (!Trainer::is_recorded(state_.step, options_)) {
        return;
    }
    report::StepRecord done;
    done.step = state_.step;
    done.epoch = static_cast<std::int64_t>(state_.position.epoch);
    done.samples = static_cast<std::int64_t>(state_.samples);
    done.time_s = Seconds(Clock::now() - started_).count();
    done.loss = step.loss;
    done.learning_rate = step.learning_rate;
    done.global_batch = static_cast<std::int64_t>(step.global_batch);
    done.world_size = step.world_size;
    record(done);
}

// Until this member leads, another one writes what it knows; that one may go before it has.
void ElasticRun::record(const report::MetricsRecord& record) {
    if (files_) {
        files_->metrics().write(record);
    } else {
        backlog_.keep(record);
    }
}

void ElasticRun::record_events() {
    for (const elastic::Membership::Event& event : membership_->take_events()) {
        spdlog::debug("{} (generation {}, {} members, {}): {}", event.kind, event.generation, event.members, human(event.took),
                      event.text);
        if (files_) {
            report::EventRecord record;
            record.step = state_.step;
            record.time_s = Seconds(Clock::now() - started_).count();
            record.kind = "resize";
            record.text = event.kind + ", " + std::to_string(event.members) + " members, held up for " + human(event.took) +
                          (event.text.empty() ? "" : ": " + event.text);
            files_->metrics().write(record);
        }
    }
}

TrainResult ElasticRun::end_after_leaving(Steps& steps) {
    steps.set_left();
    TrainResult result;
    result.ranks_changed = true;
    return end(result, steps);
}

// All have done the last step; what it takes to evaluate it may still be on its way, and the leader may die before it has saved.
void ElasticRun::wait_for_the_others(const TrainResult& result) {
    try {
        group_->barrier();
    } catch (const Error& error) {
        spdlog::debug("at the end: {}", error.what());
        if (!files_) {
            finish_instead_of_the_leader(result);
        }
    }
}

bool ElasticRun::is_recorded_as_finished() const {
    try {
        const report::RunAttempt newest = report::read_run_record(directory_.summary_file()).attempt;
        return newest.exit_code == static_cast<int>(ExitCode::done) && newest.last_step == state_.step;
    } catch (const Error&) {
        return false;  // not written yet
    }
}

// The leader holds the lock of the directory until it has recorded the end, or dies.
void ElasticRun::finish_instead_of_the_leader(const TrainResult& result) {
    const auto until = Clock::now() + longest_hand_over;
    while (!is_recorded_as_finished()) {
        if (lead(false)) {
            save_as_the_last_one();
            files_->finished(result, state_, checkpointer_->committed_step());
            return;
        }
        wait_to_lead(until);
    }
}

void ElasticRun::wait_to_lead(Clock::time_point until) const {
    if (Clock::now() > until) {
        throw Error(ExitCode::io, "the state after step " + std::to_string(state_.step) + " is not saved: " +
                                      (complaint_.empty() ? "another process keeps the run directory" : complaint_),
                    "a run that is started again goes on from the newest checkpoint");
    }
    std::this_thread::sleep_for(between_tries_to_lead / 10);
}

// Nobody goes on, so this one saves, whether it has come to lead the run or not.
void ElasticRun::save_as_the_last_one() {
    const auto until = Clock::now() + longest_hand_over;
    while (!files_ && !lead(false)) {
        wait_to_lead(until);
    }
    checkpointer_->finish();
    if (checkpointer_->committed_step() != state_.step) {
        const bool best = state_.best && state_.best->step == state_.step;
        checkpointer_->save({static_cast<std::uint64_t>(state_.step), state_.samples, best}, state_.view(arithmetic_));
        checkpointer_->finish();
    }
}

TrainResult ElasticRun::end(TrainResult result, const Steps& steps) {
    const bool left = steps.has_left() && result.ranks_changed;
    const bool others_go_on = left && !membership_->generation().members.empty();
    if (left) {
        const bool asked = steps.leaving() != job::StopReason::none;
        const char* why = asked ? job::to_string(steps.leaving()) : "drain";
        result.code = asked || !others_go_on ? ExitCode::requeue : ExitCode::done;
        result.reason = others_go_on ? std::string("left the run: ") + why : why;
        spdlog::info("left the run after step {}: {}; {}", state_.step, why, others_go_on ? "the others go on" : "nobody goes on");
    }
    if (left ? membership_->is_last() : group_->rank() == 0) {
        save_as_the_last_one();
    } else if (checkpointer_) {
        checkpointer_->finish();
    }
    trace_.flush();
    if (files_ && others_go_on) {
        files_->handed_over(result, state_);
    } else if (files_) {
        files_->finished(result, state_, checkpointer_->committed_step());
    }
    if (!others_go_on && result.code == ExitCode::done) {
        wait_for_the_others(result);
    }
    return result;
}

}  // namespace mastic::engine
