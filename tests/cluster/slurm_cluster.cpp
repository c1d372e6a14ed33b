#include "cluster/slurm_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

constexpr int no_cluster_possible = 4;  // exit codes of slurm-lab
constexpr int no_python = 127;
const Arguments ended_states = {"BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
                                "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"};

Arguments lab_command(const std::string& subcommand, const std::filesystem::path& directory,
                      const Arguments& more = {}) {
    Arguments command = {SLURM_LAB, subcommand, "--dir", directory.string()};
    command.insert(command.end(), more.begin(), more.end());
    return command;
}

}  // namespace

bool wait_until(const std::function<bool()>& done, Seconds timeout) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!done()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return true;
}

SlurmCluster::SlurmCluster(const ClusterOptions& options) {
    Arguments more = {"--nodes",         std::to_string(options.nodes),
                      "--cpus",          std::to_string(options.cpus),
                      "--gpus",          std::to_string(options.gpus),
                      "--requeue-grace", std::to_string(options.requeue_grace_s),
                      "--cancel-grace",  std::to_string(options.cancel_grace_s),
                      "--owner",         std::to_string(getpid())};
    for (const std::string& setting : options.settings) {
        more.insert(more.end(), {"--set", setting});
    }
    const CommandResult up = run_command(lab_command("up", directory_ / "lab", more), Seconds(180));
    if (up.exit_code == no_cluster_possible || up.exit_code == no_python) {
        obstacle_ = up.error;
    } else if (up.exit_code != 0) {
        throw std::runtime_error(up.error);
    }
}

SlurmCluster::~SlurmCluster() {
    if (obstacle_.empty()) {
        const CommandResult down = run_command(lab_command("down", directory_ / "lab"), Seconds(60));
        if (down.exit_code != 0) {
            std::cerr << down.error;
        }
    }
}

CommandResult SlurmCluster::run(const Arguments& command, Seconds timeout) const {
    return run_on("ctl", command, timeout);
}

CommandResult SlurmCluster::run_on(const std::string& node, const Arguments& command, Seconds timeout) const {
    Arguments on = {directory_ / "lab" / "on", node};
    on.insert(on.end(), command.begin(), command.end());
    return run_command(on, timeout);
}

CommandRunner SlurmCluster::runner(const std::string& node) const {
    return [this, node](const Arguments& command, Seconds timeout) { return run_on(node, command, timeout); };
}

std::string SlurmCluster::output_of(const Arguments& command) const {
    const CommandResult result = run(command);
    EXPECT_EQ(result.exit_code, 0) << command.front() << ": " << result.error;
    return result.output;
}

std::string SlurmCluster::submit(const std::string& script, const Arguments& options) const {
    const std::filesystem::path file = directory_.write("script", script);
    Arguments command = {"sbatch", "--parsable", "--output", directory_ / "job-%j.out"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(file);
    const std::string job = output_of(command);
    return job.substr(0, job.find_first_of(";\n"));
}

std::filesystem::path SlurmCluster::output_file(const std::string& job) const {
    return directory_ / ("job-" + job + ".out");
}

std::string SlurmCluster::output(const std::string& job) const {
    return std::filesystem::exists(output_file(job)) ? read_text_file(output_file(job)) : "";
}

std::map<std::string, std::string> SlurmCluster::show(const std::string& job) const {
    std::map<std::string, std::string> fields;
    std::istringstream words(run({"scontrol", "show", "job", "-o", job}).output);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        if (equals != word.npos) {
            fields.emplace(word.substr(0, equals), word.substr(equals + 1));
        }
    }
    return fields;
}

std::string SlurmCluster::wait_state(const std::string& job, const Arguments& states, Seconds timeout) const {
    std::string state;
    const bool reached = wait_until(
        [&] {
            state = show(job)["JobState"];
            return std::ranges::find(states, state) != states.end();
        },
        timeout);
    EXPECT_TRUE(reached) << "job " << job << " is still " << state << " after " << human(timeout) << "\n"
                         << output(job);
    return state;
}

std::string SlurmCluster::wait_end(const std::string& job, Seconds timeout) const {
    return wait_state(job, ended_states, timeout);
}

int SlurmCluster::exit_code(const std::string& job) const {
    int code = 0, signal = 0;
    char colon = 0;
    std::istringstream(show(job)["ExitCode"]) >> code >> colon >> signal;
    return signal != 0 ? 128 + signal : code;
}

void SlurmCluster::node_down(const std::string& node) {
    request("node-down", node);
    down_.push_back(node);
}

void SlurmCluster::node_up(const std::string& node) {
    request("node-up", node);
    std::erase(down_, node);
    wait_until_idle(node);
}

void SlurmCluster::cut(const std::string& node) {
    request("cut", node);
    cut_.push_back(node);
}

void SlurmCluster::heal(const std::string& node) {
    request("heal", node);
    std::erase(cut_, node);
}

void SlurmCluster::clear() {
    for (const std::string& node : std::vector(cut_)) {
        heal(node);
    }
    output_of({"scancel", "--user=root"});
    for (const std::string& node : std::vector(down_)) {
        node_up(node);
    }
    wait_until_idle("");
}

void SlurmCluster::request(const std::string& what, const std::string& node) const {
    const CommandResult result = run_command(lab_command(what, directory_ / "lab", {node}), Seconds(30));
    ASSERT_EQ(result.exit_code, 0) << result.error;
}

void SlurmCluster::wait_until_idle(const std::string& nodes) const {
    Arguments command = {"sinfo", "-h", "-N", "-p", "normal", "-o", "%t"};
    if (!nodes.empty()) {
        command.insert(command.end(), {"-n", nodes});
    }
    std::string states;
    const auto all_idle = [&] {
        states = run(command).output;
        std::istringstream lines(states);
        std::string state;
        while (lines >> state) {
            if (state != "idle") {
                return false;
            }
        }
        return !states.empty();
    };
    EXPECT_TRUE(wait_until(all_idle, Seconds(60))) << "nodes that do not become idle:\n" << states;
}

ClusterEnvironment* ClusterEnvironment::add(const ClusterOptions& options) {
    auto* environment = new ClusterEnvironment(options);
    testing::AddGlobalTestEnvironment(environment);  // which owns it from now on
    return environment;
}

void ClusterEnvironment::SetUp() {
    cluster_ = std::make_unique<SlurmCluster>(options_);
    if (!cluster_->obstacle().empty()) {
        GTEST_SKIP() << cluster_->obstacle();
    }
}

}  // namespace mastic::test
