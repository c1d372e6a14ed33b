#include <mastic/colocation/session.hpp>

#include <chrono>
#include <thread>

#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds session_interval{10};

Clock::time_point after(Seconds patience) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
}

// Against a keeper that is just making or removing the directory.
FileLock enter(const SessionDirectory& directory, const SessionKey& key, const Environment& environment,
               Clock::time_point limit) {
    while (Clock::now() < limit) {
        if (!directory.exists()) {
            start_keeper(directory, key, std::nullopt, environment);
        }
        if (auto lock = FileLock::try_take(directory.lock(), FileLock::Mode::shared)) {
            return std::move(*lock);
        }
        std::this_thread::sleep_for(session_interval);
    }
    throw Error(ExitCode::environment, "somebody holds " + directory.lock().string(),
                "`mastic-mps status` shows who uses it");
}

}  // namespace

Session Session::join(const SessionKey& key, const Environment& environment, Seconds patience) {
    const auto limit = after(patience);
    SessionDirectory directory = SessionDirectory::of(key, environment);
    FileLock lock = enter(directory, key, environment, limit);
    directory.add_member(find_process(getpid()).value_or(ProcessId{getpid(), 0}));
    while (Clock::now() < limit) {
        const auto state = directory.read_state();
        if (state && !state->ready) {
            throw Error(ExitCode::environment, "MPS does not work here: " + state->problem);
        }
        // Nobody keeps it: nobody was here before, or a keeper has died.
        if (auto unkept = FileLock::try_take(directory.keeper(), FileLock::Mode::exclusive)) {
            directory.forget_state();
            start_keeper(directory, key, std::move(*unkept), environment);
        } else if (state) {
            return {std::move(directory), std::move(lock)};
        }
        std::this_thread::sleep_for(session_interval);
    }
    throw Error(ExitCode::environment, "the MPS daemon of this node did not start within " + human(patience),
                "look into " + directory.mps().log.string() + "; without MPS: --mps off");
}

void Session::leave(Seconds patience) && {
    const auto limit = after(patience);
    const SessionDirectory directory = directory_;
    directory.remove_member(getpid());
    { const FileLock released = std::move(lock_); }
    while (Clock::now() < limit && std::filesystem::exists(directory.path()) &&
           directory.living_members().empty()) {
        if (const auto alone = FileLock::try_take(directory.lock(), FileLock::Mode::exclusive)) {
            end_session(directory);
            return;
        }
        std::this_thread::sleep_for(session_interval);
    }
}

}  // namespace mastic::colocation
