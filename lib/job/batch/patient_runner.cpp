#include <mastic/job/batch/patient_runner.hpp>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

namespace mastic::job {
namespace {

// Slurm's words where nothing was sent, and where the answer is missing, which does no harm to a question.
bool can_be_repeated(const std::vector<std::string>& argv, const CommandResult& result) {
    const auto says = [&](const char* words) { return result.error.find(words) != std::string::npos; };
    const bool asks = std::ranges::find(argv, "sbatch") == argv.end();
    return result.exit_code != 0 &&
           (says("Unable to contact slurm controller") || (asks && says("Socket timed out")));
}

void sleep_really(Seconds time) { std::this_thread::sleep_for(time); }

}  // namespace

CommandRunner patient_runner(CommandRunner run, std::function<void(const std::string&)> tell, Patience patience) {
    if (!patience.sleep) {
        patience.sleep = sleep_really;
    }
    const auto waited = std::make_shared<Seconds>(0);
    return [run = std::move(run), tell = std::move(tell), patience, waited](const std::vector<std::string>& argv,
                                                                            Seconds timeout) {
        for (;;) {
            CommandResult result = run(argv, timeout);
            if (!can_be_repeated(argv, result) || *waited >= patience.limit) {
                return result;
            }
            if (*waited == Seconds(0)) {
                tell("the Slurm controller cannot be reached; waiting for it, up to " + human(patience.limit));
            }
            patience.sleep(patience.pause);
            *waited += patience.pause;
        }
    };
}

}  // namespace mastic::job
