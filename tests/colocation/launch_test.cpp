// The real mastic-mps in front of small programs, on a node whose GPUs and daemon are fakes.
#include <algorithm>
#include <csignal>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/job/binding.hpp>

#include "colocation/fake_node.hpp"

namespace mastic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What the job's own session has set, sorted; the directory is shown as DIR.
std::vector<std::string> cuda_variables(const std::string& environment, const FakeNode& node) {
    std::istringstream lines(environment);
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("CUDA_MPS") || line.starts_with("CUDA_VISIBLE") || line.starts_with("OMP_") ||
            line.starts_with("MASTIC_MPS")) {
            if (const auto at = line.find(node.base().string()); at != line.npos) {
                const auto end = line.find('/', at + node.base().string().size() + 1);
                line.replace(at, end - at, "DIR");
            }
            found.push_back(line);
        }
    }
    std::ranges::sort(found);
    return found;
}

TEST(Launch, OneRankHasItsGpuAndNoDaemon) {
    FakeNode node;
    node.set("OMP_NUM_THREADS", "5");
    node.set("CUDA_MPS_PIPE_DIRECTORY", "");
    const CommandResult result = node.mps({"--", "env"});
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(cuda_variables(result.output, node),
                ElementsAre("CUDA_VISIBLE_DEVICES=GPU-aaaa", "OMP_NUM_THREADS=5"));
    EXPECT_THAT(node.journal(), IsEmpty());
    EXPECT_THAT(result.error, HasSubstr("1 ranks on 2 GPUs"));
}

TEST(Launch, UnderMpsHasExactlyTheseVariables) {
    FakeNode node;
    node.set("OMP_NUM_THREADS", "5");
    const CommandResult result =
        node.mps({"--mps", "on", "--thread-percentage", "40", "--memory-limit", "auto", "--", "env"});
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(cuda_variables(result.output, node),
                ElementsAre("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=40", "CUDA_MPS_LOG_DIRECTORY=DIR/log",
                            "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=73728M", "CUDA_MPS_PIPE_DIRECTORY=DIR/pipe",
                            "CUDA_VISIBLE_DEVICES=GPU-aaaa", "OMP_NUM_THREADS=5"));
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
    EXPECT_THAT(node.journal(), ElementsAre("start GPU-aaaa,GPU-bbbb", "quit"));
}

TEST(Launch, RanksOfMpiexecShareOneDaemon) {
    FakeNode node;
    std::vector<std::string> command = {MPIEXEC, "-n", "4"};
    const auto launcher = node.command(
        {"--ranks-per-gpu", "2", "--", "sh", "-c",
         "echo $PMI_RANK $CUDA_VISIBLE_DEVICES $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $CUDA_MPS_PIPE_DIRECTORY"});
    command.insert(command.end(), launcher.begin(), launcher.end());
    const CommandResult result = run_command(command, Seconds(120));
    ASSERT_EQ(result.exit_code, 0) << result.error;
    std::istringstream words(result.output);
    std::map<int, std::string> device_of;
    std::vector<std::string> pipes;
    std::string device, percentage, pipe;
    for (int rank = 0; words >> rank >> device >> percentage >> pipe;) {
        device_of[rank] = device;
        pipes.push_back(pipe);
        EXPECT_EQ(percentage, "63");
    }
    EXPECT_EQ(device_of, (std::map<int, std::string>{
                             {0, "GPU-aaaa"}, {1, "GPU-aaaa"}, {2, "GPU-bbbb"}, {3, "GPU-bbbb"}}));
    EXPECT_EQ(std::ranges::count(pipes, pipes.front()), 4);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
    EXPECT_THAT(node.journal(), ElementsAre("start GPU-aaaa,GPU-bbbb", "quit"));
}

TEST(Launch, MigInstancesHaveADaemonEach) {
    FakeNode node(
        "gpu GPU-a 00000000:3B:00.0 81920 0 0 A100\nmig MIG-1 10240 A100-1g\nmig MIG-2 10240 A100-1g\n");
    std::vector<std::string> command = {MPIEXEC, "-n", "2"};
    const auto launcher = node.command({"--mps", "on", "--", "true"});
    command.insert(command.end(), launcher.begin(), launcher.end());
    EXPECT_EQ(run_command(command, Seconds(120)).exit_code, 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone() && node.journal().size() == 4; }));
    EXPECT_THAT(node.journal(), testing::UnorderedElementsAre("start MIG-1", "start MIG-2", "quit", "quit"));
}

TEST(Launch, TheProgramsEndIsItsOwn) {
    FakeNode node;
    for (const char* mps : {"on", "off"}) {
        EXPECT_EQ(node.mps({"--mps", mps, "--", "sh", "-c", "exit 42"}).exit_code, 42);
        EXPECT_EQ(node.mps({"--mps", mps, "--", "sh", "-c", "kill -KILL $$"}).exit_code, 128 + SIGKILL);
    }
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

// As srun starts it: one task of one.
const std::map<std::string, std::string> slurm_task = {
    {"SLURM_JOB_ID", "7"},         {"SLURM_STEP_ID", "0"},
    {"SLURM_PROCID", "0"},         {"SLURM_LOCALID", "0"},
    {"SLURM_NODEID", "0"},         {"SLURM_STEP_NUM_TASKS", "1"},
    {"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1"}};

TEST(Launch, UnderSlurmTheLastRankWaitsForTheDaemonsEnd) {
    FakeNode node;
    node.set("CUDA_VISIBLE_DEVICES", "1");
    const pid_t rank = node.start({"--mps", "on", "--", "sh", "-c", "exit 42"}, slurm_task);
    EXPECT_EQ(wait_for_exit(rank), 42);
    EXPECT_TRUE(node.all_gone()) << "at once: Slurm kills what a step has left";
    EXPECT_THAT(node.journal(), ElementsAre("start GPU-bbbb", "quit"));
    EXPECT_EQ(wait_for_exit(node.start({"--mps", "on", "--", "sh", "-c", "kill -USR1 $$"}, slurm_task)),
              -SIGUSR1);
    EXPECT_TRUE(node.all_gone());
}

TEST(Launch, ARankWithAGpuOfItsOwnSharesNothing) {
    FakeNode node;  // as srun --gpus-per-task=1 starts two tasks
    node.set("CUDA_VISIBLE_DEVICES", "1");
    node.set("SLURM_GPUS_ON_NODE", "2");
    auto task = slurm_task;
    task["SLURM_LOCALID"] = task["SLURM_PROCID"] = "1";
    task["SLURM_STEP_NUM_TASKS"] = task["SLURM_STEP_TASKS_PER_NODE"] = "2";
    const std::string told = (node.directory() / "told").string();
    EXPECT_EQ(wait_for_exit(node.start({"--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES >" + told}, task)), 0);
    EXPECT_EQ(run_command({"cat", told}, Seconds(10)).output, "GPU-bbbb\n");
    EXPECT_THAT(node.journal(), IsEmpty());
}

// In exclusive mode the job's own server has the GPU when the second rank comes.
TEST(Launch, TheJobsOwnDaemonIsNoConflict) {
    FakeNode node("gpu GPU-a 00000000:3B:00.0 1024 3 0 A100\n");
    node.set("CUDA_VISIBLE_DEVICES", "0");
    const std::string here = (node.directory() / "here").string();
    const std::string end = (node.directory() / "end").string();
    const pid_t first = node.start({"--mps", "on", "--", "sh", "-c",
                                    "touch " + here + "; while [ ! -e " + end + " ]; do sleep 0.02; done"},
                                   slurm_task);
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(here); }));
    std::string line = "gpu GPU-a 00000000:3B:00.0 1024 3 0 A100";
    for (const pid_t process : node.daemons()) {
        line += " " + std::to_string(process);
    }
    node.directory().write("gpus", line + "\n");
    EXPECT_EQ(wait_for_exit(node.start({"--mps", "on", "--", "true"}, slurm_task)), 0);
    node.directory().write("end", "");
    EXPECT_EQ(wait_for_exit(first), 0);
    EXPECT_TRUE(node.all_gone());
}

TEST(Launch, SignalsReachTheProgram) {
    for (const auto& launcher : {std::map<std::string, std::string>{}, slurm_task}) {
        FakeNode node;
        node.set("CUDA_VISIBLE_DEVICES", "0");
        const std::string got = (node.directory() / "got").string();
        const pid_t rank = node.start(
            {"--mps", "on", "--", "bash", "-c",
             "for s in TERM USR1 USR2; do trap \"echo $s >>" + got + "\" $s; done; echo ready >>" + got +
                 "; for i in {1..6000}; do [ $(wc -l <" + got + ") -lt 4 ] || exit 75; sleep 0.01; done"},
            launcher);
        const auto lines = [&] {
            return std::filesystem::exists(got) ? run_command({"cat", got}, Seconds(10)).output : "";
        };
        ASSERT_TRUE(eventually([&] { return lines() == "ready\n"; }));
        std::string expected = "ready\n";
        for (const auto& [signal, name] :
             {std::pair(SIGUSR1, "USR1"), std::pair(SIGUSR2, "USR2"), std::pair(SIGTERM, "TERM")}) {
            kill(rank, signal);
            expected += std::string(name) + "\n";
            ASSERT_TRUE(eventually([&] { return lines() == expected; })) << lines();
        }
        EXPECT_EQ(wait_for_exit(rank), 75);
        EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
    }
}

TEST(Launch, TheSitesDaemonIsUsedAndStays) {
    FakeNode node;
    const std::string pipe = (node.directory() / "site").string();
    std::filesystem::create_directory(pipe);
    node.set("CUDA_MPS_PIPE_DIRECTORY", pipe);
    node.set("CUDA_MPS_LOG_DIRECTORY", pipe);
    node.set("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50");  // as Slurm's gres/mps
    std::vector<std::string> start = node.command({});
    start.back() = "nvidia-cuda-mps-control";
    start.push_back("-d");
    ASSERT_EQ(run_command(start, Seconds(30)).exit_code, 0);
    const CommandResult result = node.mps({"--mps", "on", "--", "env"});
    EXPECT_THAT(result.output, HasSubstr("CUDA_MPS_PIPE_DIRECTORY=" + pipe + "\n"));
    EXPECT_THAT(result.output, HasSubstr("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50\n"));
    EXPECT_THAT(result.error, HasSubstr("the site's MPS"));
    EXPECT_EQ(node.daemons().size(), 1u);
    EXPECT_THAT(node.session_names(), IsEmpty());
}

struct Refusal {
    const char* what;
    std::map<std::string, std::string> variables;
    std::string gpus;
    std::vector<std::string> arguments;
    int code;
    const char* part;
};

TEST(Launch, RefusesWithTheReason) {
    const Refusal table[] = {
        {"the daemon does not start",
         {{"FAKE_MPS", "no-start"}},
         two_gpus,
         {"--mps", "on"},
         4,
         "Failed to start: no device"},
        {"it does not answer", {{"FAKE_MPS", "mute"}}, two_gpus, {"--mps", "on"}, 4, "does not answer"},
        {"no MPS here",
         {{"PATH", "/usr/bin:/bin"}},
         two_gpus,
         {"--mps", "on"},
         4,
         "nvidia-cuda-mps-control is not in PATH"},
        {"no driver", {{"FAKE_NVML", "/nowhere"}}, two_gpus, {}, 4, "Driver Not Loaded"},
        {"no such GPU", {{"CUDA_VISIBLE_DEVICES", "7"}}, two_gpus, {}, 4, "grants GPU 7"},
        {"prohibited", {}, "gpu GPU-a 00000000:3B:00.0 1024 2 0 A100\n", {}, 4, "compute mode prohibited"},
        {"taken",
         {},
         "gpu GPU-a 00000000:3B:00.0 1024 3 0 A100 1\n",
         {"--mps", "on"},
         4,
         "process 1 has it already"},
        {"too deep",
         {{"MASTIC_MPS_DIRECTORY", "/tmp/" + std::string(90, 'x')}},
         two_gpus,
         {"--mps", "on"},
         4,
         "too long a path"},
        {"wrong share",
         {},
         two_gpus,
         {"--thread-percentage", "200"},
         2,
         "neither auto, none nor a percentage"},
        {"wrong number", {}, two_gpus, {"--ranks-per-gpu", "0"}, 2, "neither auto nor a number"},
    };
    for (const Refusal& row : table) {
        FakeNode node(row.gpus);
        for (const auto& [name, value] : row.variables) {
            node.set(name, value);
        }
        std::vector<std::string> arguments = row.arguments;
        const std::string ran = (node.directory() / "ran").string();
        arguments.insert(arguments.end(), {"--", "touch", ran});
        const CommandResult result = node.mps(arguments);
        EXPECT_EQ(result.exit_code, row.code) << row.what << result.error;
        EXPECT_THAT(result.error, HasSubstr(row.part)) << row.what;
        EXPECT_FALSE(std::filesystem::exists(ran)) << row.what;
        EXPECT_TRUE(eventually([&] { return node.all_gone(); })) << row.what;
    }
}

TEST(Launch, RefusesADaemonWithoutAServer) {
    FakeNode node;
    node.set("FAKE_MPS", "no-server");
    const CommandResult result = node.mps({"--mps", "on", "--", "true"});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_THAT(result.error, HasSubstr("starts no server for this user"));
    EXPECT_THAT(result.error, HasSubstr("server.log: Failed to start : invalid device"));
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

TEST(Launch, KillsADaemonThatDoesNotQuit) {
    FakeNode node;
    node.set("FAKE_MPS", "no-quit");
    EXPECT_EQ(node.mps({"--mps", "on", "--", "true"}).exit_code, 0);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
    EXPECT_THAT(node.journal(), ElementsAre("start GPU-aaaa,GPU-bbbb"));
}

TEST(Launch, ProgramsThatAreNotThereCostNothing) {
    FakeNode node;
    EXPECT_EQ(node.mps({"--mps", "on", "--", "no-such-program"}).exit_code, 2);
    EXPECT_EQ(node.mps({"--mps", "on", "--", "/etc/passwd"}).exit_code, 2);
    EXPECT_EQ(node.mps({"--mps", "on"}).exit_code, 2);
    EXPECT_THAT(node.journal(), IsEmpty());
}

TEST(Launch, DryRunStartsNothing) {
    FakeNode node;
    const CommandResult result =
        node.mps({"--mps", "on", "--dry-run", "--", "touch", (node.directory() / "ran").string()});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("nothing was started"));
    EXPECT_FALSE(std::filesystem::exists(node.directory() / "ran"));
    EXPECT_THAT(node.journal(), IsEmpty());
}

TEST(Launch, OnCoresNeedsNoGpu) {
    FakeNode node;
    node.set("MASTIC_MPS_NVML", "/nowhere");
    const CommandResult result = node.mps({"--device", "cpu", "--cores-per-device", "1", "--", "sh", "-c",
                                           "echo threads $OMP_NUM_THREADS; taskset -cp $$"});
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("threads 1\n"));
    const auto plan = nlohmann::json::parse(
        node.mps({"plan", "--device", "cpu", "--cores-per-device", "1", "--json"}).output);
    const auto cpus = plan.at("ranks")[0].at("cpus").get<std::vector<int>>();
    EXPECT_THAT(result.output, HasSubstr("affinity list: " + job::compact_ranges(cpus) + "\n"));
}

TEST(Launch, KeepsTheProgramsVariables) {
    FakeNode node;
    node.set("MASTIC_TRAIN_EPOCHS", "3");
    const CommandResult result = node.mps({"--", "env"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("MASTIC_TRAIN_EPOCHS=3\n"));
    EXPECT_THAT(result.output, Not(HasSubstr("MASTIC_MPS_")));
}

TEST(Plan, ShowsRanksDevicesAndShares) {
    FakeNode node;
    const CommandResult text = node.mps({"plan", "--ranks-per-gpu", "2"});
    ASSERT_EQ(text.exit_code, 0) << text.error;
    EXPECT_THAT(text.output, HasSubstr("2 devices (all GPUs of this node); under MPS"));
    EXPECT_THAT(text.output, HasSubstr("GPU-bbbb"));
    const auto json = nlohmann::json::parse(node.mps({"plan", "--ranks", "3", "--json"}).output);
    ASSERT_EQ(json.at("ranks").size(), 3u);
    EXPECT_EQ(json.at("ranks")[1].at("device"), "GPU-aaaa");
    EXPECT_EQ(json.at("ranks")[2].at("device"), "GPU-bbbb");
    EXPECT_EQ(json.at("ranks")[0].at("environment").at("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "63");
    EXPECT_EQ(json.at("mps"), true);
    EXPECT_EQ(node.mps({"plan", "--ranks", "9", "--ranks-per-gpu", "2"}).exit_code, 2);
    EXPECT_THAT(node.journal(), IsEmpty());
}

TEST(Information, IsPrinted) {
    FakeNode node;
    EXPECT_THAT(node.mps({"--help"}).output, HasSubstr("--ranks-per-gpu"));
    EXPECT_EQ(nlohmann::json::parse(node.mps({"--version", "--json"}).output).at("program"), "mastic-mps");
    EXPECT_THAT(node.mps({"--generate", "man"}).output, HasSubstr(".TH"));
    const CommandResult no_dashes = node.mps({"env"});
    EXPECT_EQ(no_dashes.exit_code, 2);
}

}  // namespace
}  // namespace mastic::test
