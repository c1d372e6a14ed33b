// mastic-rescale status: what runs where and why, from the state directory alone.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include <unistd.h>

#include <mastic/schedule/command/desk.hpp>
#include <mastic/schedule/manager/state_view.hpp>

namespace mastic::schedule {
namespace {

constexpr auto watch_every = std::chrono::seconds(2);
constexpr const char* clear_screen = "\033[H\033[2J";

std::string status_of(const CommandContext& context, const StateDirectory& state) {
    StateView view = view_of(state, seconds_since_1970());
    if (context.invocation.json) {
        return status_json(view);
    }
    const auto& arguments = context.invocation.positionals;
    if (arguments.size() < 2) {
        return status_text(view);
    }
    const auto is_of_sweep = [&](const Training& one) { return one.order.sweep == arguments[1]; };
    if (std::ranges::none_of(view.trainings, is_of_sweep)) {
        return training_text(view, state.require(arguments[1]));
    }
    std::erase_if(view.trainings, [&](const Training& one) { return !is_of_sweep(one); });
    return status_text(view);
}

}  // namespace

int status_command(const CommandContext& context) {
    const StateDirectory state = open_state(context);
    std::cout << status_of(context, state);
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    while (context.options.desk.watch && std::cout.flush()) {
        std::this_thread::sleep_for(watch_every);
        std::cout << (terminal ? clear_screen : "\n") << status_of(context, state);
    }
    return 0;
}

}  // namespace mastic::schedule
