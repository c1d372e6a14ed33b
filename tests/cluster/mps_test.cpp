// mastic-mps under a real srun: the GPUs that Slurm grants, and what is left when a step or job ends. The GPUs and the daemon
// are fakes.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>

#include <mastic/core/file.hpp>

#include "cluster/slurm_cluster.hpp"
#include "colocation/fake_node.hpp"

namespace mastic::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = 2, .gpus = 2, .settings = {"KillWait=5"}});

class MpsJob : public testing::Test {
  protected:
    MpsJob() { node.leave_as_it_is("CUDA_VISIBLE_DEVICES"); }
    void TearDown() override { cluster.clear(); }

    // srun OPTIONS env ... mastic-mps ARGUMENTS
    Arguments step(const Arguments& options, const Arguments& arguments) const {
        Arguments words = {"srun", "--mpi=none"};
        words.insert(words.end(), options.begin(), options.end());
        const Arguments rest = node.command(arguments);
        words.insert(words.end(), rest.begin(), rest.end());
        return words;
    }
    static std::vector<std::string> sorted_lines(const std::string& text) {
        std::istringstream lines(text);
        std::vector<std::string> all;
        for (std::string line; std::getline(lines, line);) {
            all.push_back(line);
        }
        std::ranges::sort(all);
        return all;
    }
    int starts() const {
        const auto lines = node.journal();
        return static_cast<int>(
            std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("start"); }));
    }

    const Arguments tell = {"--", "sh", "-c", "echo $SLURM_LOCALID $CUDA_VISIBLE_DEVICES"};
    FakeNode node;
    SlurmCluster& cluster = environment->cluster();
};

TEST_F(MpsJob, RanksShareTheGrantedGpus) {
    Arguments arguments = {"--ranks-per-gpu", "2"};
    arguments.insert(arguments.end(), tell.begin(), tell.end());
    const std::string said =
        cluster.output_of(step({"-N2", "-n8", "--ntasks-per-node=4", "--gpus-per-node=2"}, arguments));
    EXPECT_THAT(sorted_lines(said), ElementsAre("0 GPU-aaaa", "0 GPU-aaaa", "1 GPU-aaaa", "1 GPU-aaaa",
                                                "2 GPU-bbbb", "2 GPU-bbbb", "3 GPU-bbbb", "3 GPU-bbbb"));
    EXPECT_TRUE(node.all_gone()) << "the last rank of each node waits for it";
    EXPECT_EQ(starts(), 2) << "one on each node";
}

TEST_F(MpsJob, AShardIsAPartOfOneGpu) {
    const std::string said = cluster.output_of(step({"-N1", "-n2", "--gres=shard:2"}, tell));
    const auto lines = sorted_lines(said);
    ASSERT_EQ(lines.size(), 2u) << said;
    EXPECT_EQ(lines[0].substr(1), lines[1].substr(1)) << "both on the one with the shards";
    EXPECT_TRUE(node.all_gone());
}

TEST_F(MpsJob, WithoutAGrantRefuses) {
    const CommandResult result = cluster.run(step({"-N1", "-n2"}, tell));
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.error, HasSubstr("no GPU"));
    EXPECT_EQ(starts(), 0);
}

TEST_F(MpsJob, TheProgramsCodeIsTheSteps) {
    EXPECT_EQ(
        cluster.run(step({"-N1", "-n1", "--gpus-per-node=1"}, {"--mps", "on", "--", "sh", "-c", "exit 75"}))
            .exit_code,
        75);
    EXPECT_TRUE(node.all_gone());
}

TEST_F(MpsJob, SubmitsAJobForAllGpusOfTheNodes) {
    Arguments call = {"env", "-C", node.directory().path().string()};
    Arguments arguments = {"--ranks-per-gpu", "2", "--slurm.nodes", "2", "--submit"};
    arguments.insert(arguments.end(), tell.begin(), tell.end());
    const Arguments rest = node.command(arguments);
    call.insert(call.end(), rest.begin(), rest.end());
    const std::string said = cluster.output_of(call);
    ASSERT_THAT(said, HasSubstr("submitted job "));
    const std::string job = said.substr(14, said.find(' ', 14) - 14);
    EXPECT_EQ(cluster.wait_end(job), "COMPLETED");
    auto lines = sorted_lines(read_text_file(node.directory() / ("mastic-mps-" + job + ".log")));
    std::erase_if(lines, [](const auto& line) { return line.find("mastic-mps:") != line.npos; });
    EXPECT_THAT(lines, ElementsAre("0 GPU-aaaa", "0 GPU-aaaa", "1 GPU-aaaa", "1 GPU-aaaa", "2 GPU-bbbb",
                                               "2 GPU-bbbb", "3 GPU-bbbb", "3 GPU-bbbb"));
    EXPECT_TRUE(node.all_gone());
}

TEST_F(MpsJob, ASignalReachesTheProgramOnceAndLeavesTheDaemon) {
    const std::string dir = node.directory().path().string();
    const std::string program = "trap 'echo got >>" + dir + "/got' USR1; touch " + dir +
                                "/here; for i in 1 2 3 4 5 6; do sleep 0.5; done; " +
                                "ls $CUDA_MPS_PIPE_DIRECTORY >" + dir + "/pipe";
    std::string script = "#!/bin/bash\n";
    for (const std::string& word : step({"-n1"}, {"--mps", "on", "--", "bash", "-c", program})) {
        script += "'";
        for (const char letter : word) {
            script += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
        }
        script += "' ";
    }
    const std::string job = cluster.submit(script + "\n", {"-N1", "--gpus-per-node=1"});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(node.directory() / "here"); }, Seconds(60)))
        << cluster.output(job);
    cluster.output_of({"scancel", "-s", "USR1", job + ".0"});
    EXPECT_EQ(cluster.wait_end(job), "COMPLETED") << cluster.output(job);
    EXPECT_EQ(cluster.output_of({"cat", dir + "/got"}), "got\n");
    EXPECT_THAT(cluster.output_of({"cat", dir + "/pipe"}), HasSubstr("control"));
    EXPECT_TRUE(node.all_gone());
}

TEST_F(MpsJob, ACancelledJobLeavesNoDaemonAndCleanFindsTheRest) {
    const std::string dir = node.directory().path().string();
    std::string script = "#!/bin/bash\n";
    for (const std::string& word : step({"-n2"}, {"--mps", "on", "--", "bash", "-c",
                                                  "trap '' TERM; touch " + dir + "/here; sleep 600"})) {
        script += "\"" + word + "\" ";
    }
    const std::string job = cluster.submit(script + "\n", {"-N1", "-n2", "--gpus-per-node=1"});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(node.directory() / "here"); }, Seconds(60)))
        << cluster.output(job);
    cluster.output_of({"scancel", "--signal=KILL", job});
    cluster.wait_end(job);
    EXPECT_TRUE(wait_until([&] { return node.processes().empty(); }, Seconds(60)));
    node.set("MASTIC_MPS_NVML", "/nowhere");
    cluster.run_on("n1", node.command({"clean"}));
    cluster.run_on("n2", node.command({"clean"}));
    EXPECT_TRUE(node.all_gone());
}

}  // namespace
}  // namespace mastic::test
