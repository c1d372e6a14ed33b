#include "engine/train_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/command.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::test {
namespace {

ProgramResult run(const Arguments& argv, Seconds timeout) {
    const CommandResult result = run_command(argv, timeout);
    EXPECT_NE(result.exit_code, 124) << "still running after " << human(timeout) << ":\n" << result.error;
    return {result.exit_code, result.output + result.error};
}

}  // namespace

Arguments small_task(const std::filesystem::path& run_dir, const Arguments& more) {
    const std::vector<std::pair<std::string, std::string>> defaults = {
        {"--run.dir", run_dir.string()}, {"--data.format", "synthetic"}, {"--data.limit", "64"},
        {"--data.classes", "4"},         {"--data.input_shape", "1,8,8"}, {"--model.name", "mlp"},
        {"--model.hidden", "16"},        {"--train.batch_size", "16"},    {"--checkpoint.every", "0"},
        {"--output.log_every", "1"},     {"--train.threads", "1"},
    };
    Arguments arguments = more;
    for (const auto& [flag, value] : defaults) {
        if (std::ranges::find(more, flag) == more.end()) {
            arguments.insert(arguments.end(), {flag, value});
        }
    }
    return arguments;
}

Arguments member_command(const std::filesystem::path& run_dir, const Arguments& more) {
    Arguments command = small_task(run_dir, more);
    command.insert(command.begin(), MASTIC_TRAIN);
    command.insert(command.end(), {"--elastic.join", run_dir.string()});
    return command;
}

ProgramResult run_program(const Arguments& arguments, Seconds timeout) {
    Arguments argv = {MASTIC_TRAIN};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run(argv, timeout);
}

ProgramResult run_ranks(int ranks, const Arguments& arguments, Seconds timeout) {
    return run_ranks_of(MASTIC_TRAIN, ranks, arguments, timeout);
}

ProgramResult run_ranks_of(const std::string& trainer, int ranks, const Arguments& arguments, Seconds timeout) {
    Arguments argv = {MPIEXEC, "-n", std::to_string(ranks), trainer};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run(argv, timeout);
}

void train(int ranks, const Arguments& arguments) {
    const ProgramResult result = run_ranks(ranks, arguments);
    ASSERT_EQ(result.exit_code, 0) << result.text;
}

report::Metrics metrics_of(const std::filesystem::path& run_dir) {
    return report::read_metrics(job::RunDirectory{run_dir}.metrics_file());
}

report::RunRecord record_of(const std::filesystem::path& run_dir) {
    return report::read_run_record(job::RunDirectory{run_dir}.summary_file());
}

checkpoint::State newest_state(const std::filesystem::path& run_dir) {
    const checkpoint::CheckpointStore store(job::RunDirectory{run_dir}.checkpoints());
    auto restored = store.restore();
    EXPECT_TRUE(restored.has_value()) << "no checkpoint in " << run_dir;
    return restored ? std::move(restored->state) : checkpoint::State{};
}

std::int64_t step_of(const checkpoint::State& state) { return nlohmann::json::parse(state.facts).at("step"); }

std::vector<double> losses_of(const std::filesystem::path& run_dir) {
    std::vector<double> losses;
    for (const report::StepRecord& step : metrics_of(run_dir).steps) {
        losses.push_back(step.loss);
    }
    return losses;
}

void expect_identical(const checkpoint::State& a, const checkpoint::State& b) {
    ASSERT_EQ(a.entries.size(), b.entries.size());
    for (std::size_t i = 0; i < a.entries.size(); ++i) {
        EXPECT_EQ(a.entries[i].name, b.entries[i].name);
        EXPECT_TRUE(std::ranges::equal(a.entries[i].bytes, b.entries[i].bytes)) << a.entries[i].name;
    }
    EXPECT_EQ(nlohmann::json::parse(a.facts), nlohmann::json::parse(b.facts));
}

void expect_nearly_identical(const checkpoint::State& a, const checkpoint::State& b) {
    ASSERT_EQ(a.entries.size(), b.entries.size());
    for (const checkpoint::StateEntry& entry : a.entries) {
        const checkpoint::StateEntry* other = b.find(entry.name);
        ASSERT_NE(other, nullptr) << entry.name;
        ASSERT_EQ(entry.type, DataType::float64) << entry.name;
        for (std::size_t at = 0; at < entry.bytes.size(); at += sizeof(double)) {
            double mine = 0, theirs = 0;
            std::memcpy(&mine, entry.bytes.data() + at, sizeof mine);
            std::memcpy(&theirs, other->bytes.data() + at, sizeof theirs);
            ASSERT_NEAR(mine, theirs, 1e-8) << entry.name << " at " << at;
        }
    }
}

void expect_every_step_once(const std::filesystem::path& run_dir, std::int64_t steps, std::int64_t batch) {
    std::int64_t expected = 0;
    for (const report::StepRecord& record : metrics_of(run_dir).steps) {
        ++expected;
        ASSERT_EQ(record.step, expected);
        ASSERT_EQ(record.samples, expected * batch);
    }
    EXPECT_EQ(expected, steps);
}

}  // namespace mastic::test
