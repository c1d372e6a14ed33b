#include "cluster/rescale_manager.hpp"

#include <algorithm>
#include <csignal>

#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

constexpr Seconds longest_life{900};

}  // namespace

RescaleManager::RescaleManager(const SlurmCluster& cluster, std::filesystem::path state_directory)
    : cluster_(cluster),
      state_(schedule::StateDirectory::create_or_open(state_directory)),
      log_(state_directory.parent_path() / "manager.log") {}

RescaleManager::~RescaleManager() {
    if (running_.valid()) {
        kill();
    }
}

schedule::TrainingOrder RescaleManager::order(const std::filesystem::path& run_directory, int steps, int sample_us,
                                              int least) const {
    schedule::TrainingOrder order;
    order.name = run_directory.filename();
    order.directory = run_directory.parent_path();
    order.config = run_directory.string() + ".toml";
    order.run_directory = run_directory;
    order.least = least;
    order.most = 4;
    order.arguments = small_task(
        run_directory, {"--train.precision", "float64", "--train.max_steps", std::to_string(steps),
                        "--train.epochs", "1000000", "--train.inject", "slow@" + std::to_string(sample_us)});
    order.submitted_s = Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
    write_file_atomically(order.config, "[train]\nthreads = 1\n");
    return order;
}

std::string RescaleManager::submit(const std::filesystem::path& run_directory, int steps, int sample_us, int least) const {
    return state_.publish({order(run_directory, steps, sample_us, least)}).front();
}

Arguments RescaleManager::command(const Arguments& more) const {
    Arguments words = {MASTIC_RESCALE,
                       "serve",
                       state_.path().string(),
                       "--pilot.partition",
                       "cancel",
                       "--pilot.time",
                       "600",
                       "--serve.every",
                       "1",
                       "--serve.share",
                       "1",
                       "--serve.programs",
                       std::filesystem::path(MASTIC_TRAIN).parent_path().string(),
                       "--rescale.live_start",
                       "5"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

void RescaleManager::start(const Arguments& more) {
    Arguments words = {"sh", "-c", "exec \"$0\" \"$@\" >>" + log_.string() + " 2>&1"};
    const Arguments serve = command(more);
    words.insert(words.end(), serve.begin(), serve.end());
    running_ =
        std::async(std::launch::async, [this, words] { return cluster_.run(words, longest_life); });
    ASSERT_TRUE(wait_until([&] { return lives(); }, Seconds(60))) << log();
}

// Not those that only started it, whose command lines hold the same words: they pass its exit code on.
void RescaleManager::signal(int number) const {
    for (const pid_t pid : processes_of("serve " + state_.path().string())) {
        const std::string name =
            run_command({"ps", "-o", "comm=", "-p", std::to_string(pid)}, Seconds(30)).output;
        if (name.starts_with("mastic-rescale")) {
            ::kill(pid, number);
        }
    }
}

void RescaleManager::kill() {
    signal(SIGKILL);
    running_.get();
}

int RescaleManager::stop() {
    signal(SIGTERM);
    return wait(Seconds(60));
}

int RescaleManager::wait(Seconds timeout) {
    if (running_.wait_for(timeout) != std::future_status::ready) {
        ADD_FAILURE() << "the manager is still there after " << human(timeout) << "\n" << log();
        signal(SIGKILL);
    }
    return running_.get().exit_code;
}

std::vector<schedule::Event> RescaleManager::events(schedule::EventKind kind) const {
    std::vector<schedule::Event> all = schedule::read_events(state_.events_file()).events;
    std::erase_if(all, [&](const schedule::Event& event) { return event.kind != kind; });
    return all;
}

std::string RescaleManager::log() const {
    return std::filesystem::exists(log_) ? read_text_file(log_) : "";
}

bool RescaleManager::wait_for_pilots(int count, const std::string& state) const {
    const auto enough = [&] {
        int found = 0;
        for (const schedule::Training& training : state_.trainings()) {
            found += static_cast<int>(
                std::ranges::count(training.record.pilots, state, &schedule::PilotRecord::state));
        }
        return found >= count;
    };
    return wait_until(enough, Seconds(300));
}

}  // namespace mastic::test
