#include <mastic/schedule/command/order_check.hpp>

#include <set>

#include <spdlog/spdlog.h>

#include <mastic/core/error.hpp>

namespace mastic::schedule {
namespace {

constexpr Seconds patience{120};  // reading the data of a slow file system
constexpr int lacks_something = static_cast<int>(ExitCode::environment);
constexpr int not_found = 127;
constexpr int timed_out = 124;

std::vector<std::string> trainer_call(const TrainingOrder& order, const std::filesystem::path& programs,
                                      const char* only) {
    std::vector<std::string> words = {"env", "-C", order.directory, (programs / "mastic-train").string(), order.config};
    words.insert(words.end(), order.arguments.begin(), order.arguments.end());
    words.insert(words.end(), {"--elastic.join", order.run_directory, only});
    return words;
}

// Its errors stand behind what it says of its progress, in one of two forms.
std::string complaint(const CommandResult& result) {
    std::string text = result.error;
    for (const std::string mark : {"mastic-train: ", " error   "}) {
        if (const auto begin = result.error.find(mark); begin != result.error.npos) {
            text = result.error.substr(begin + mark.size());
        }
    }
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
}

// 0, or the code of what this machine lacks.
int check(const TrainingOrder& order, const std::vector<std::string>& call, const CommandRunner& run) {
    const CommandResult result = run(call, patience);
    if (result.exit_code == 0) {
        return 0;
    }
    const bool of_this_machine =
        result.exit_code == lacks_something || result.exit_code == not_found || result.exit_code == timed_out;
    if (!of_this_machine) {
        throw Error(static_cast<ExitCode>(result.exit_code), order.name + ": mastic-train refuses it: " + complaint(result),
                    "nothing was submitted; --unchecked submits it nevertheless");
    }
    spdlog::warn("{}: submitted without a look at all of it: {}", order.name,
                 result.exit_code == timed_out ? "mastic-train did not answer" : complaint(result));
    return result.exit_code;
}

}  // namespace

void check_orders(const std::vector<TrainingOrder>& orders, const std::filesystem::path& programs,
                  const CommandRunner& run) {
    std::set<std::string> looked_at;  // configurations
    for (const TrainingOrder& order : orders) {
        const bool is_first = looked_at.insert(order.config).second;  // a dry run looks at its options, too
        const int lack = check(order, trainer_call(order, programs, is_first ? "--dry-run" : "--print-config"), run);
        const bool took_the_options = lack == 0 || (is_first && lack == lacks_something);
        if (!took_the_options) {
            return;
        }
    }
}

}  // namespace mastic::schedule
