#include <mastic/elastic/app/member_run.hpp>

#include <chrono>
#include <thread>

#include <spdlog/spdlog.h>

#include <mastic/core/agreed_error.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/version.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::app {

// The directory first: once nobody is alive, another process may begin anew there.
MemberRun::~MemberRun() { stop_leading(); }

ExitCode MemberRun::run() {
    set_up();
    try {
        enter();
    } catch (const elastic::Left&) {
        spdlog::info("{} before this process had joined the run", job::to_string(signals_.stop_reason()));
        return ExitCode::requeue;
    }
    for (;;) {
        try {
            if (!group_) {
                begin_generation();
            }
            const ExitCode code = take_steps();
            if (!leads() && !left_ && group_->rank() == 0) {
                save_as_the_last_one();
            }
            if (code == ExitCode::done && finished()) {
                say_farewell();
            }
            return code;
        } catch (const elastic::Left&) {
            return left();
        } catch (const AgreedError&) {
            throw;
        } catch (const Error& error) {
            if (error.code() != ExitCode::collective) {
                throw;
            }
            spdlog::warn("{}", error.what());
        }
        try {
            regroup();
        } catch (const elastic::Left&) {
            return left();
        }
    }
}

void MemberRun::enter() {
    const auto directory = job::RunDirectory::create_or_open(options_.run_dir);
    last_good_ = state().copy();
    elastic::MembershipOptions membership;
    membership.directory = directory.path() / "elastic";
    membership.version = version();
    membership.fingerprint = fingerprint();
    membership.timing.timeout = options_.timeout;
    membership.timing.heartbeat = options_.timeout / 3;
    membership.join = options_.patience;
    membership.must_end = [this] { return signals_.stop_reason() != job::StopReason::none; };
    membership_ =
        std::make_unique<elastic::Membership>(membership, static_cast<elastic::ReplicatedState&>(*this));
    if (membership_->founded()) {
        lead();
        resume();
        last_good_ = state().copy();
    } else {
        spdlog::info("joined the run at step {}", steps());
    }
}

void MemberRun::begin_generation() {
    group_ = membership_->make_group();
    join(group_);
    check_equal_values();
    lead_if_first();
    spdlog::info("generation {}: rank {} of {}, at step {}: {}", membership_->generation().id, group_->rank(),
                 group_->size(), steps(), membership_->generation().reason);
}

// Members that disagree must not go on: each would compute something else.
void MemberRun::check_equal_values() {
    const std::vector<std::string> sums = group_->allgather_strings(to_hex(checksum(last_good_)));
    for (std::size_t rank = 1; rank < sums.size(); ++rank) {
        if (sums[rank] != sums[0]) {
            throw AgreedError(
                ExitCode::collective,
                "rank " + std::to_string(rank) + " has other kept values than rank 0 after step " +
                    std::to_string(steps()),
                "what a step does may depend on kept values, steps() and results of collectives only");
        }
    }
}

// The one before may still be writing its last checkpoint: then a little later.
void MemberRun::lead_if_first() {
    constexpr std::chrono::milliseconds between_tries{500};
    const auto now = std::chrono::steady_clock::now();
    if (leads() || membership_->rank() != 0 || now - last_try_to_lead_ < between_tries) {
        return;
    }
    last_try_to_lead_ = now;
    try {
        lead();
        spdlog::info("leading the run from step {}", steps());
    } catch (const Error& error) {
        spdlog::debug("cannot lead yet: {}", error.what());
    }
}

void MemberRun::regroup() {
    join(nullptr);
    group_.reset();
    forget_recording();
    state().restore(last_good_);
    membership_->regroup(steps());
}

StepWord MemberRun::own_word() {
    StepWord word = AppRun::own_word();
    word.checkpoint |= membership_->take_checkpoint_wish() ? 1 : 0;
    word.generation = membership_->pending();
    if (word.stop != 0 && group_->size() > 1) {
        word.stop = 0;  // the others go on
        if (!std::exchange(leaving_, true)) {
            spdlog::info("{}: leaving at the next step boundary", job::to_string(signals_.stop_reason()));
            membership_->leave();
        }
    }
    return word;
}

void MemberRun::applied(const StepWord& agreed) {
    last_good_ = state().copy();
    membership_->keep(steps(), elastic::Blob::of(take_recording()), agreed.generation);
}

std::optional<ExitCode> MemberRun::after_step(const StepWord& agreed) {
    switch (membership_->at_boundary(steps(), agreed.generation)) {
        case elastic::Boundary::left:
            return left();
        case elastic::Boundary::changed:
            join(nullptr);
            group_.reset();
            begin_generation();
            break;
        case elastic::Boundary::stays:
            lead_if_first();
            break;
    }
    return std::nullopt;
}

ExitCode MemberRun::left() {
    left_ = true;
    const bool others_go_on = !membership_->generation().members.empty();
    spdlog::info("left the run after step {}; {}", steps(), others_go_on ? "the others go on" : "nobody goes on");
    if (membership_->is_last()) {
        save_as_the_last_one();
    }
    return leaving_ || !others_go_on ? ExitCode::requeue : ExitCode::done;
}

// Whether it has come to lead the run or not: the one before may still be writing its last checkpoint.
void MemberRun::save_as_the_last_one() {
    constexpr std::chrono::seconds longest_hand_over{60};
    const auto until = std::chrono::steady_clock::now() + longest_hand_over;
    while (!leads()) {
        try {
            lead();
        } catch (const Error&) {
            if (std::chrono::steady_clock::now() > until) {
                throw;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
    save_if_missing();
}

// Nobody goes while another one may still need it for the evaluation, or before the one that leads has saved: that one may die.
void MemberRun::say_farewell() {
    try {
        group_->barrier();
    } catch (const Error& error) {
        spdlog::debug("at the end: {}", error.what());
        save_as_the_last_one();
    }
}

elastic::Blob MemberRun::snapshot() {
    return elastic::Blob::of(state().copy());
}

void MemberRun::load(elastic::Step step, std::span<const std::byte> snapshot) {
    state().restore(snapshot);
    set_steps(step);
    last_good_ = state().copy();
}

void MemberRun::apply(elastic::Step step, std::span<const std::byte> reduced) {
    if (step != steps() + 1) {
        throw Error(ExitCode::collective,
                    "step " + std::to_string(step) + " cannot follow step " + std::to_string(steps()));
    }
    take_step_again(reduced);
    last_good_ = state().copy();
}

}  // namespace mastic::app
