#include <mastic/elastic/pursuit.hpp>

#include <utility>

#include <mastic/core/error.hpp>

namespace mastic::elastic {

template <class Work>
std::thread Pursuit::start(const Work& work) {
    return std::thread([this, work] {
        try {
            BulkClient client(source_.address, source_.secret, [this] {
                const std::lock_guard lock(mutex_);
                return stopping_ || (is_over_ && is_over_());
            });
            work(client);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            error_ = std::current_exception();
        }
        changed_.notify_all();
    });
}

Pursuit::Pursuit(PursuitSource source, Step first, TimedSocket::Interrupted is_over)
    : source_(std::move(source)), is_over_(std::move(is_over)) {
    fetching_ = start([this, first](BulkClient& client) { fetch_steps(client, first); });
}

Pursuit::~Pursuit() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    fetching_.join();
    if (listening_.joinable()) {
        listening_.join();
    }
}

void Pursuit::fetch_steps(BulkClient& client, Step first) {
    constexpr std::size_t most_waiting = 2;
    GenerationId known = 0;
    for (Step step = first;;) {
        Fetched fetched =
            client.fetch({.what = BulkRequest::What::step, .member = source_.member, .step = step, .known = known});
        std::unique_lock lock(mutex_);
        newest_ = fetched.newest;
        changed_.notify_all();
        if (fetched.status == BulkAnswer::Status::later) {
            continue;
        }
        if (fetched.status == BulkAnswer::Status::switched) {
            boundary_ = Boundary{fetched.generation, fetched.step};
            known = fetched.generation;
            changed_.wait(lock, [&] { return wants_the_last_ || stopping_; });
            if (stopping_ || fetched.step < step) {
                return;
            }
            continue;
        }
        if (fetched.status != BulkAnswer::Status::data) {
            throw Error(ExitCode::collective, "step " + std::to_string(step) + ", which this one needs, is not kept any more");
        }
        steps_.push_back(std::move(fetched));
        ++step;
        changed_.wait(lock, [&] { return steps_.size() < most_waiting || stopping_; });
        if (stopping_) {
            return;
        }
    }
}

void Pursuit::listen_for(GenerationId generation) {
    if (!listening_.joinable()) {
        listening_ = start([this, generation](BulkClient& client) { ask_for_boundary(client, generation); });
    }
}

void Pursuit::ask_for_boundary(BulkClient& client, GenerationId generation) {
    const BulkRequest request{.what = BulkRequest::What::boundary, .member = source_.member, .known = generation};
    Fetched answer = client.fetch(request);
    while (answer.status == BulkAnswer::Status::later) {
        answer = client.fetch(request);
    }
    const std::lock_guard lock(mutex_);
    boundary_ = Boundary{answer.generation, answer.step};
}

std::optional<Fetched> Pursuit::next_step(Seconds bound) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, bound, [&] { return !steps_.empty() || error_ || (boundary_ && !told_of_boundary_); });
    told_of_boundary_ = boundary_.has_value();
    if (!steps_.empty()) {
        Fetched step = std::move(steps_.front());
        steps_.pop_front();
        changed_.notify_all();
        return step;
    }
    if (error_) {
        std::rethrow_exception(error_);
    }
    return std::nullopt;
}

void Pursuit::fetch_the_last() {
    const std::lock_guard lock(mutex_);
    wants_the_last_ = true;
    changed_.notify_all();
}

std::optional<Pursuit::Boundary> Pursuit::boundary() const {
    const std::lock_guard lock(mutex_);
    return boundary_;
}

std::optional<Step> Pursuit::newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
}

}  // namespace mastic::elastic
