#include <mastic/comm/progress_thread.hpp>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <csignal>

#include <mastic/comm/drive.hpp>
#include <mastic/comm/operation_queue.hpp>
#include <mastic/comm/sequence.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

constexpr const char* end_hint = "the ranks no longer agree where they are: end the process";

// For the operations that end with the one that failed: whoever waits for them should learn why.
std::string failure_text(const std::string& operation, const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& why) {
        return "'" + operation + "' failed: " + why.what();
    }
}

}  // namespace

// The state of the thread, which it shares with its owner: if it must be left behind, it keeps its own memory.
struct ProgressThread::Shared {
    std::mutex mutex;
    EventLoop loop;
    std::condition_variable ended;
    bool asleep = false;         // in rest(), or waiting for events
    bool resting = false;        // nothing in flight
    bool caller_drives = false;  // run() has an operation under way; then the thread does nothing
    bool was_held_up = false;    // by that, so it wants to be woken afterwards
    std::vector<std::shared_ptr<Channel>> channels;
    std::uint64_t next_ticket = 0;
    bool stopping = false;
    bool has_ended = false;
    bool abandoned = false;
    // Operations that ended without completing: MPI may still hold their requests, so they live as long as the thread.
    std::list<QueuedOperation> set_aside;
    Clock::time_point stop_deadline{};
    std::thread thread;

    struct Active {
        Channel* channel = nullptr;
        QueuedOperation* entry = nullptr;
    };
    std::vector<Active> active;  // of the progress thread alone
    // Whose operation is in start() or step() now, on the progress thread without the lock: it may use its buffers.
    const Channel* in_step = nullptr;
    bool has_news = false;  // something to look at before the thread sleeps
    std::shared_ptr<RollPost> post;
    Clock::time_point next_roll_call{};

    void run();
    Active pick();
    void start_all(std::unique_lock<std::mutex>& lock);
    bool step_all(std::unique_lock<std::mutex>& lock);
    template <class Function>
    std::exception_ptr without_lock(const Active& current, std::unique_lock<std::mutex>& lock,
                                    const Function& function);
    void finish(const Active& done, std::exception_ptr error, std::unique_lock<std::mutex>& lock);
    bool anything_waiting() const;
    void set_broken_aside();
    void attend_roll_calls(std::unique_lock<std::mutex>& lock);
    std::vector<RollLetter> answer(const std::vector<RollWord>& words);
    void pause(Backoff& backoff, std::unique_lock<std::mutex>& lock);
    void rest(std::unique_lock<std::mutex>& lock);
    void wake() {
        has_news = true;
        if (asleep) {
            loop.wake();
        }
    }
    std::shared_ptr<Request::State> take_over(const std::shared_ptr<Channel>& channel, Submission submission,
                                              std::uint64_t number);
    bool idle() const { return resting && !caller_drives && !stopping && !anything_waiting(); }
    template <class Wait>
    void sleep(std::unique_lock<std::mutex>& lock, const Wait& wait);
    Clock::duration until_roll_call() const;
    Clock::duration until_stop() const;
    bool listens() const;
    void listen_now_and_then(std::unique_lock<std::mutex>& lock);
    unsigned busy_rounds = 0;
};

class ProgressThread::Channel : public StallSource {
  public:
    Channel(const ChannelOptions& channel_options, std::weak_ptr<Shared> owner)
        : options(channel_options), queue(channel_options.operations_in_flight), owner_(std::move(owner)) {}

    std::string describe_stall() const override {
        const auto shared = owner_.lock();
        if (!shared) {
            return "nothing";
        }
        const std::lock_guard lock(shared->mutex);
        return queue.describe(Clock::now()) + "; " + describe_missing();
    }

    void declare_broken(const std::string& reason) override {
        if (const auto shared = owner_.lock()) {
            const std::lock_guard lock(shared->mutex);
            break_off(reason);
            // Who is told that a request has failed may free its buffers, so not while a step may still use them.
            if (shared->in_step != this) {
                fail_requests();
            }
            shared->wake();
        }
    }

    // The next three under Shared::mutex. From now on nothing can be started; the progress thread fails the requests and
    // puts the operations aside when it comes by.
    void break_off(const std::string& reason) {
        if (broken.empty()) {
            broken = reason;
        }
    }
    void fail_requests() {
        for (auto* list : {&queue.running(), &queue.waiting()}) {
            for (auto& entry : *list) {
                entry.state->fail(error());
            }
        }
    }
    std::exception_ptr error() const {
        return std::make_exception_ptr(Error(ExitCode::collective, broken, end_hint));
    }

    // Early enough for the answers to be here before the first report, or before the time-out.
    Seconds ask_after() const { return std::min(options.limits.stall_report, options.limits.timeout) / 2; }
    Clock::duration roll_call_interval() const { return to_ticks(ask_after() / 4); }

    RollCall::Position position() const {
        const QueuedOperation* oldest = queue.oldest();
        return oldest == nullptr ? RollCall::Position{.number = queue.next_number()}
                                 : RollCall::Position{oldest->number, oldest->state->name, true};
    }

    bool stalls(Clock::time_point now) const {
        const QueuedOperation* oldest = queue.oldest();
        return broken.empty() && oldest != nullptr && oldest->started != Clock::time_point{} &&
               now - oldest->started >= to_ticks(ask_after());
    }

    const ChannelOptions options;
    OperationQueue queue;  // guarded by Shared::mutex, as are the following
    std::string broken;
    std::optional<RollCall> roll;

  private:
    std::string describe_missing() const {
        const QueuedOperation* oldest = queue.oldest();
        if (oldest != nullptr && oldest->exclusive) {
            return "ranks unknown, since '" + oldest->state->name +
                   "' blocks the progress thread (native-blocking)";
        }
        // A question, its way to a rank that looks for it and the way back each take an interval at most.
        const bool answers_are_due =
            roll && oldest != nullptr &&
            Clock::now() - oldest->started >= to_ticks(ask_after()) + 3 * roll_call_interval();
        const std::string missing = answers_are_due ? roll->describe(position()) : "";
        return missing.empty() ? "a rank is late, stopped or lost" : missing;
    }

    std::weak_ptr<Shared> owner_;
};

bool ProgressThread::Shared::anything_waiting() const {
    return std::any_of(channels.begin(), channels.end(),
                       [](const auto& channel) { return !channel->queue.waiting().empty(); });
}

ProgressThread::Shared::Active ProgressThread::Shared::pick() {
    set_broken_aside();
    if (!active.empty() && active.back().entry->exclusive) {
        return {};
    }
    Channel* fenced = nullptr;
    std::uint64_t fence = std::numeric_limits<std::uint64_t>::max();
    for (const auto& channel : channels) {
        if (const auto ticket = channel->queue.waiting_fence(); ticket && *ticket < fence) {
            fenced = channel.get();
            fence = *ticket;
        }
    }
    for (const auto& channel : channels) {
        if (QueuedOperation* entry = channel->queue.start_next(fence)) {
            return {channel.get(), entry};
        }
    }
    const bool must_wait = std::any_of(channels.begin(), channels.end(), [fence](const auto& channel) {
        return channel->queue.has_older_than(fence);
    });
    if (fenced == nullptr || must_wait) {
        return {};
    }
    return {fenced, fenced->queue.start_exclusive(fence)};
}

// What blocks, as MPI's own calls do, may never come back: whoever waits for it learns of an end at once.
template <class Function>
std::exception_ptr ProgressThread::Shared::without_lock(const Active& current,
                                                        std::unique_lock<std::mutex>& lock,
                                                        const Function& function) {
    in_step = current.entry->exclusive ? nullptr : current.channel;
    lock.unlock();
    std::exception_ptr error;
    try {
        function();
    } catch (...) {
        error = std::current_exception();
    }
    lock.lock();
    in_step = nullptr;
    return error;
}

void ProgressThread::Shared::start_all(std::unique_lock<std::mutex>& lock) {
    for (Active next = pick(); next.entry != nullptr; next = pick()) {
        next.entry->started = Clock::now();
        const auto error = without_lock(next, lock, [&next] { next.entry->operation->start(); });
        if (error) {
            finish(next, error, lock);
        } else {
            active.push_back(next);
        }
    }
}

bool ProgressThread::Shared::step_all(std::unique_lock<std::mutex>& lock) {
    bool advanced = false;
    for (std::size_t i = 0; i < active.size();) {
        const Active current = active[i];
        if (!current.channel->broken.empty()) {
            return true;  // to put it aside
        }
        Step step = Step::waiting;
        const auto error = without_lock(current, lock, [&] { step = current.entry->operation->step(); });
        advanced = advanced || step != Step::waiting;
        if (error || step == Step::complete) {
            active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
            finish(current, error, lock);
        } else {
            ++i;
        }
    }
    return advanced;
}

void ProgressThread::Shared::finish(const Active& done, std::exception_ptr error,
                                    std::unique_lock<std::mutex>& lock) {
    if (error) {
        // The ranks may be in different positions now, so the channel takes no more.
        done.entry->state->fail(error);
        done.channel->break_off(failure_text(done.entry->state->name, error));
        done.channel->fail_requests();
        return;
    }
    std::list<QueuedOperation> completed;
    auto& running = done.channel->queue.running();
    completed.splice(completed.end(), running,
                     std::find_if(running.begin(), running.end(),
                                  [&done](const auto& entry) { return &entry == done.entry; }));
    lock.unlock();
    QueuedOperation& entry = completed.front();
    entry.operation.reset();
    entry.owner.reset();
    entry.state->complete(Clock::now() - entry.started);
    completed.clear();
    lock.lock();
}

void ProgressThread::Shared::set_broken_aside() {
    for (const auto& channel : channels) {
        if (channel->broken.empty() || channel->queue.empty()) {
            continue;
        }
        channel->fail_requests();
        abandoned = true;
        std::erase_if(active, [&channel](const Active& entry) { return entry.channel == channel.get(); });
        for (auto* list : {&channel->queue.running(), &channel->queue.waiting()}) {
            set_aside.splice(set_aside.end(), *list);
        }
    }
}

std::vector<RollLetter> ProgressThread::Shared::answer(const std::vector<RollWord>& words) {
    std::vector<RollLetter> letters;
    for (const RollWord& word : words) {
        const auto channel = std::find_if(channels.begin(), channels.end(), [&word](const auto& candidate) {
            return candidate->roll && candidate->roll->group() == word.group;
        });
        if (channel != channels.end()) {
            (*channel)->roll->hear(word, (*channel)->position(), letters);
        } else if (word.kind == RollWord::Kind::question) {
            letters.push_back(not_open_answer(word));
        }
    }
    return letters;
}

void ProgressThread::Shared::attend_roll_calls(std::unique_lock<std::mutex>& lock) {
    const auto now = Clock::now();
    if (now < next_roll_call) {
        return;
    }
    const auto mailbox = post;
    lock.unlock();
    const std::vector<RollWord> words = mailbox->receive();
    lock.lock();
    std::vector<RollLetter> letters = answer(words);
    next_roll_call = Clock::time_point::max();
    for (const auto& channel : channels) {
        if (!channel->roll) {
            continue;
        }
        next_roll_call = std::min(next_roll_call, now + channel->roll_call_interval());
        if (channel->stalls(now)) {
            channel->roll->ask(channel->position(), letters);
        }
    }
    lock.unlock();
    mailbox->send(letters);
    lock.lock();
}

template <class Wait>
void ProgressThread::Shared::sleep(std::unique_lock<std::mutex>& lock, const Wait& wait) {
    if (has_news) {
        return;
    }
    asleep = true;
    lock.unlock();
    wait();
    lock.lock();
    asleep = false;
}

constexpr std::chrono::hours longest_sleep{1};

Clock::duration ProgressThread::Shared::until_roll_call() const {
    if (!post || next_roll_call == Clock::time_point::max()) {
        return longest_sleep;
    }
    return std::clamp<Clock::duration>(next_roll_call - Clock::now(), Clock::duration::zero(), longest_sleep);
}

Clock::duration ProgressThread::Shared::until_stop() const {
    return stopping ? std::max(stop_deadline - Clock::now(), Clock::duration::zero()) : longest_sleep;
}

bool ProgressThread::Shared::listens() const {
    return std::any_of(active.begin(), active.end(),
                       [](const Active& entry) { return entry.entry->operation->event_driven(); });
}

// What is polled may keep advancing while sockets wait to be heard.
void ProgressThread::Shared::listen_now_and_then(std::unique_lock<std::mutex>& lock) {
    constexpr unsigned rounds = 16;
    if (++busy_rounds % rounds == 0 && listens()) {
        lock.unlock();
        loop.wait({});
        lock.lock();
    }
}

void ProgressThread::Shared::rest(std::unique_lock<std::mutex>& lock) {
    const bool attends = post && post->works_when_idle() && !was_held_up;
    const Clock::duration most = attends ? until_roll_call() : longest_sleep;
    resting = true;
    sleep(lock, [this, most] { loop.wait_for_wake(most); });
    resting = false;
}

// Sockets wake the thread from a nap too; where there are only sockets, it sleeps until they do.
void ProgressThread::Shared::pause(Backoff& backoff, std::unique_lock<std::mutex>& lock) {
    PollPolicy policy = PollPolicy::sleep;
    bool polls = false;
    for (const Active& entry : active) {
        if (!entry.entry->operation->event_driven()) {
            polls = true;
            policy = std::min(policy, entry.channel->options.poll);
        }
    }
    if (!polls) {
        const Clock::duration most = std::min(until_roll_call(), until_stop());
        sleep(lock, [this, most] { loop.wait(most); });
        return;
    }
    const Pause pause = backoff.next(policy);
    if (pause.nap.count() > 0) {
        sleep(lock, [this, nap = pause.nap] { loop.wait(nap); });
        return;
    }
    const bool listen = listens();
    lock.unlock();
    if (listen) {
        loop.wait({});
    }
    if (pause.yield) {
        sched_yield();
    }
    lock.lock();
}

// An operation that a caller has begun and that goes on here.
std::shared_ptr<Request::State> ProgressThread::Shared::take_over(const std::shared_ptr<Channel>& channel,
                                                                  Submission submission,
                                                                  std::uint64_t number) {
    auto state =
        std::make_shared<Request::State>(std::move(submission.name), channel->options.limits, channel);
    QueuedOperation* entry = channel->queue.adopt({.ticket = next_ticket++,
                                                   .number = number,
                                                   .lane = submission.lane,
                                                   .priority = submission.priority,
                                                   .owner = std::move(submission.owner),
                                                   .operation = std::move(submission.operation),
                                                   .state = state,
                                                   .started = Clock::now()});
    if (channel->broken.empty()) {
        active.push_back({channel.get(), entry});
    } else {
        state->fail(channel->error());
    }
    wake();
    return state;
}

void ProgressThread::Shared::run() {
    Backoff backoff;
    std::unique_lock lock(mutex);
    for (;;) {
        has_news = false;
        if (caller_drives) {
            was_held_up = true;
            rest(lock);
            continue;
        }
        was_held_up = false;
        if (post && (!active.empty() || post->works_when_idle())) {
            attend_roll_calls(lock);
        }
        start_all(lock);
        if (active.empty() && !anything_waiting()) {
            std::erase_if(channels, [](const auto& channel) { return channel.use_count() == 1; });
            if (stopping) {
                break;
            }
            rest(lock);
            backoff.reset();
            continue;
        }
        if (stopping && Clock::now() >= stop_deadline) {
            break;
        }
        if (step_all(lock)) {
            backoff.reset();
            listen_now_and_then(lock);
        } else {
            pause(backoff, lock);
        }
    }
    for (const auto& channel : channels) {
        channel->break_off("the group was closed before this operation completed");
    }
    set_broken_aside();
    has_ended = true;
    ended.notify_all();
}

ProgressThread::ProgressThread() : shared_(std::make_shared<Shared>()) {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    shared_->thread = std::thread([shared = shared_] {
        pthread_setname_np(pthread_self(), "mastic-comm");
        prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; the default would stretch each nap by 50 us
        shared->run();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgressThread::~ProgressThread() {
    shutdown(Seconds(1));
}

std::shared_ptr<ProgressThread::Channel> ProgressThread::open_channel(const ChannelOptions& options) {
    auto channel = std::make_shared<Channel>(options, shared_);
    const std::lock_guard lock(shared_->mutex);
    shared_->channels.push_back(channel);
    return channel;
}

void ProgressThread::join_roll_call(const std::shared_ptr<Channel>& channel, RollMembers members,
                                    std::shared_ptr<RollPost> post) {
    const std::lock_guard lock(shared_->mutex);
    channel->roll.emplace(std::move(members));
    shared_->post = std::move(post);
    shared_->next_roll_call = {};
    shared_->wake();
}

Request ProgressThread::submit(const std::shared_ptr<Channel>& channel, Submission submission) {
    auto state =
        std::make_shared<Request::State>(std::move(submission.name), channel->options.limits, channel);
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopping) {
        throw Error(ExitCode::usage, "'" + state->name + "' was started after its group's session had ended");
    }
    if (!channel->broken.empty()) {
        throw Error(ExitCode::collective, "'" + state->name + "' cannot start: " + channel->broken, end_hint);
    }
    channel->queue.push({.ticket = shared_->next_ticket++,
                         .lane = submission.lane,
                         .priority = submission.priority,
                         .exclusive = submission.exclusive,
                         .owner = std::move(submission.owner),
                         .operation = std::move(submission.operation),
                         .state = state});
    shared_->wake();
    return Request(std::move(state));
}

Request ProgressThread::call(const std::shared_ptr<Channel>& channel, std::string name,
                             std::function<void()> function) {
    return submit(channel,
                  {.operation = make_call(std::move(function)), .name = std::move(name), .exclusive = true});
}

void ProgressThread::abandon(const std::shared_ptr<Channel>& channel, const std::string& reason) {
    channel->declare_broken(reason);
}

EventLoop& ProgressThread::event_loop() {
    return shared_->loop;
}

void ProgressThread::run(const std::shared_ptr<Channel>& channel, Submission submission) {
    std::unique_lock lock(shared_->mutex);
    if (submission.exclusive || !shared_->idle() || !channel->broken.empty()) {
        lock.unlock();
        submit(channel, std::move(submission)).wait();
        return;
    }
    const std::uint64_t number = channel->queue.take_number();
    shared_->caller_drives = true;
    lock.unlock();
    std::exception_ptr error;
    bool complete = false;
    try {
        complete = drive(*submission.operation, shared_->loop, channel->options.caller_poll);
    } catch (...) {
        error = std::current_exception();
    }
    lock.lock();
    shared_->caller_drives = false;
    if (error) {
        // The operation stays: its streams may still hold its buffers.
        shared_->abandoned = true;
        QueuedOperation& kept = shared_->set_aside.emplace_back();
        kept.owner = std::move(submission.owner);
        kept.operation = std::move(submission.operation);
        channel->break_off(failure_text(submission.name, error));
        channel->fail_requests();
        shared_->wake();
        std::rethrow_exception(error);
    }
    if (complete) {
        if (shared_->was_held_up || shared_->anything_waiting()) {
            shared_->wake();
        }
        return;
    }
    const auto state = shared_->take_over(channel, std::move(submission), number);
    lock.unlock();
    Request(state).wait();
}

bool ProgressThread::shutdown(Seconds bound) {
    // A blocking operation does not look at the deadline: it gets a little longer, then is left behind.
    constexpr Seconds grace{0.5};
    std::unique_lock lock(shared_->mutex);
    if (!shared_->thread.joinable()) {
        return !shared_->abandoned;
    }
    shared_->stopping = true;
    shared_->stop_deadline = Clock::now() + to_ticks(bound);
    shared_->wake();
    const bool in_time = shared_->ended.wait_for(lock, bound + grace, [this] { return shared_->has_ended; });
    if (!in_time) {
        shared_->abandoned = true;
        shared_->thread.detach();
        return false;
    }
    lock.unlock();
    shared_->thread.join();
    return !shared_->abandoned;
}

}  // namespace mastic::comm
