#include <mastic/schedule/command/desk.hpp>

#include <array>
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

std::optional<Answer> wait_for_answer(const Inbox& inbox, const std::string& id, Seconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
        if (auto answer = inbox.answer_to(id)) {
            return answer;
        }
        if (std::chrono::steady_clock::now() >= until) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(look_every);
    }
}

}  // namespace

double seconds_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

StateDirectory open_state(const CommandContext& context) {
    return StateDirectory::open(context.invocation.positionals.at(0));
}

int ask(const CommandContext& context, const StateDirectory& state, Request request) {
    request.by = process_environment()("USER").value_or("somebody") + "@" + host_name();
    request.time_s = seconds_since_1970();
    if (context.invocation.dry_run) {
        std::cout << "would ask: " << describe(request) << "\n";
        return 0;
    }
    const std::string id = state.inbox().post(request);
    if (!state.manager()) {
        std::cout << describe(request) << ": waits for a manager; start one with `mastic-rescale serve "
                  << state.path().string() << "`\n";
        return 0;
    }
    const auto answer = wait_for_answer(state.inbox(), id, context.options.desk.wait);
    if (!answer) {
        std::cout << describe(request) << ": no answer yet; the manager does it at one of its next rounds\n";
        return 0;
    }
    if (answer->refused) {
        throw Error(ExitCode::usage, describe(request) + ": refused, " + answer->text);
    }
    std::cout << answer->text << "\n";
    return 0;
}

}  // namespace mastic::schedule
