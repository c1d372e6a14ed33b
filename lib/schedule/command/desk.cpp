#include <mastic/schedule/command/desk.hpp>

#include <chrono>
#include <iostream>
#include <thread>

#include <unistd.h>

#include <mastic/core/environment.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/host_name.hpp>

namespace mastic::schedule {
namespace {

constexpr auto look_every = std::chrono::milliseconds(100);

using Clock = std::chrono::steady_clock;

std::optional<Answer> wait_for_answer(const Inbox& inbox, const std::string& id, Clock::time_point until) {
    for (;;) {
        if (auto answer = inbox.answer_to(id)) {
            return answer;
        }
        if (Clock::now() >= until) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(look_every);
    }
}

// What to print instead of an answer.
std::string without_answer(const StateDirectory& state, bool has_manager) {
    return has_manager ? "no answer yet; the manager does it at one of its next rounds"
                       : "waits for a manager; start one with `mastic-rescale serve " + state.path().string() + "`";
}

}  // namespace

double seconds_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

StateDirectory open_state(const CommandContext& context) {
    return StateDirectory::open(context.invocation.positionals.at(0));
}

int ask(const CommandContext& context, const StateDirectory& state, std::vector<Request> requests) {
    std::vector<std::string> ids;
    for (Request& request : requests) {
        request.by = process_environment()("USER").value_or("somebody") + "@" + host_name();
        request.time_s = seconds_since_1970();
        if (context.invocation.dry_run) {
            std::cout << "would ask: " << describe(request) << "\n";
        } else {
            ids.push_back(state.inbox().post(request));
        }
    }
    const bool has_manager = state.manager().has_value();
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(context.options.desk.wait);
    std::string refused;  // the newest; the last one ends the program
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::string what = describe(requests[i]);
        const auto answer = has_manager ? wait_for_answer(state.inbox(), ids[i], until) : std::nullopt;
        if (answer && answer->refused) {
            std::cerr << refused;
            refused = what + ": refused, " + answer->text + "\n";
        } else {
            std::cout << (answer ? answer->text : what + ": " + without_answer(state, has_manager)) << "\n";
        }
    }
    if (!refused.empty()) {
        refused.pop_back();
        throw Error(ExitCode::usage, refused);
    }
    return 0;
}

}  // namespace mastic::schedule
