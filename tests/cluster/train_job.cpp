#include "cluster/train_job.hpp"

#include <sstream>

#include <mastic/job/run_directory.hpp>

namespace mastic::test {
namespace {

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

}  // namespace

Arguments train_step(const Arguments& srun_options, const Arguments& train_arguments) {
    Arguments step = {"srun", "--mpi=pmi2", "--kill-on-bad-exit=1"};
    step.insert(step.end(), srun_options.begin(), srun_options.end());
    step.emplace_back(MASTIC_TRAIN);
    step.insert(step.end(), train_arguments.begin(), train_arguments.end());
    return step;
}

std::string batch_script(const Arguments& step) {
    std::string script = "#!/bin/sh\nexec";
    for (const std::string& word : step) {
        script += " " + quoted(word);
    }
    return script + "\n";
}

Arguments endless_task(const std::filesystem::path& run_dir, Arguments more) {
    more.insert(more.end(), {"--train.epochs", "1000000"});
    return small_task(run_dir, more);
}

void wait_until_training(const std::filesystem::path& run_dir) {
    const auto file = job::RunDirectory{run_dir}.metrics_file();
    constexpr std::uintmax_t some_steps = 2000;
    const auto training = [&] {
        std::error_code not_there;
        const auto size = std::filesystem::file_size(file, not_there);
        return !not_there && size > some_steps;
    };
    ASSERT_TRUE(wait_until(training, Seconds(30))) << "no training in " << run_dir;
}

void expect_valid_checkpoints(const std::filesystem::path& run_dir) {
    const ProgramResult verify = run_program({"--checkpoint.verify", run_dir.string()});
    EXPECT_EQ(verify.exit_code, 0) << verify.text;
}

std::vector<pid_t> processes_of(const std::filesystem::path& run_dir) {
    // Matches the whole command line, so srun and the batch script count too.
    std::istringstream pids(run_command({"pgrep", "-f", run_dir.string()}, Seconds(10)).output);
    return {std::istream_iterator<pid_t>(pids), {}};
}

}  // namespace mastic::test
