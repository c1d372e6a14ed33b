// The cluster itself: what the other tests rely on.
#include <algorithm>
#include <csignal>
#include <sstream>

#include <gmock/gmock.h>

#include <mastic/core/file.hpp>

#include "cluster/slurm_cluster.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = 3,
                             .gpus = 2,
                             .cancel_grace_s = 3,
                             .settings = {"KillWait=2", "SlurmdTimeout=3", "MessageTimeout=2"}});

class Cluster : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }
    SlurmCluster& cluster = environment->cluster();
};

Arguments sorted_lines(const std::string& text) {
    std::istringstream stream(text);
    Arguments lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    std::ranges::sort(lines);
    return lines;
}

TEST_F(Cluster, RunsAStepOnNodesWithNamesOfTheirOwn) {
    EXPECT_EQ(sorted_lines(cluster.output_of({"srun", "-N3", "hostname"})), (Arguments{"n1", "n2", "n3"}));
}

TEST_F(Cluster, ANodeHasItsOwnAddressAndSharedMemory) {
    EXPECT_THAT(cluster.run_on("n2", {"ip", "-br", "address", "show", "eth0"}).output,
                HasSubstr("10.79.1.2/16"));
    EXPECT_EQ(cluster.run_on("n2", {"touch", "/dev/shm/mine"}).exit_code, 0);
    EXPECT_NE(cluster.run_on("n1", {"ls", "/dev/shm/mine"}).exit_code, 0);
    EXPECT_EQ(cluster.run_on("n1", {"cat", "/sys/class/net/eth0/operstate"}).output, "up\n");
}

TEST_F(Cluster, NodesReachEachOtherByName) {
    EXPECT_THAT(cluster.run_on("n1", {"getent", "hosts", "n3"}).output, HasSubstr("10.79.1.3"));
    // The port of slurmd.
    EXPECT_EQ(cluster.run_on("n1", {"bash", "-c", "exec 3<>/dev/tcp/n3/6818"}).exit_code, 0);
}

TEST_F(Cluster, GivesGpusOut) {
    EXPECT_EQ(cluster.output_of({"srun", "-N1", "--gres=gpu:1", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"}),
              "0\n");
}

TEST_F(Cluster, TellsTheExitCodeOfAJob) {
    const std::string job = cluster.submit("#!/bin/sh\necho from $(hostname)\nexit 75\n");
    EXPECT_EQ(cluster.wait_end(job), "FAILED");
    EXPECT_EQ(cluster.exit_code(job), 75);
    EXPECT_EQ(cluster.output(job), "from n1\n");
}

TEST_F(Cluster, PreemptsByRequeueAndByCancelWithItsGraceTime) {
    const std::string script =
        "#!/bin/sh\nsrun sh -c 'trap \"echo told; exit 3\" TERM; echo runs; while :; do sleep 0.1; done'\n";
    const auto start_in = [&](const std::string& partition) {
        const std::string job = cluster.submit(script, {"-p", partition, "-N3", "--exclusive"});
        EXPECT_TRUE(
            wait_until([&] { return cluster.output(job).find("runs") != std::string::npos; }, Seconds(20)));
        return job;
    };
    const std::string cancelled = start_in("cancel");
    cluster.output_of({"srun", "-N3", "--exclusive", "true"});
    EXPECT_EQ(cluster.wait_end(cancelled), "FAILED");  // not PREEMPTED, since it ended by itself
    EXPECT_EQ(cluster.exit_code(cancelled), 3);
    EXPECT_THAT(cluster.output(cancelled), HasSubstr("told"));

    const std::string requeued = start_in("requeue");
    cluster.output_of({"srun", "-N3", "--exclusive", "true"});
    cluster.wait_state(requeued, {"PENDING"});
    EXPECT_EQ(cluster.show(requeued)["Restarts"], "1");
}

TEST_F(Cluster, ANodeThatLosesPowerEndsItsJobAndComesBack) {
    const std::string job = cluster.submit("#!/bin/sh\nsleep 1000\n", {"-w", "n2", "--no-requeue"});
    cluster.wait_state(job, {"RUNNING"});
    cluster.node_down("n2");
    EXPECT_NE(cluster.run_on("n2", {"true"}).exit_code, 0);
    EXPECT_EQ(cluster.wait_end(job), "NODE_FAIL");
    cluster.node_up("n2");
    EXPECT_EQ(cluster.output_of({"srun", "-w", "n2", "hostname"}), "n2\n");
}

TEST_F(Cluster, ACutLinkCarriesNothingUntilItIsHealed) {
    const Arguments connect = {"timeout", "1", "bash", "-c",
                               "exec 3<>/dev/tcp/n2/6818"};  // the port of slurmd
    const auto connects = [&] { return cluster.run_on("n1", connect).exit_code == 0; };
    EXPECT_TRUE(wait_until(connects, Seconds(20)));
    cluster.cut("n2");
    EXPECT_FALSE(connects());
    cluster.heal("n2");
    EXPECT_TRUE(wait_until(connects, Seconds(20)));
}

// Another cluster, started by a process that is then killed.
TEST_F(Cluster, NothingIsLeftOfAKilledOwner) {
    const TempDir dir;
    const std::string lab = dir / "lab";
    const std::string script = std::string(SLURM_LAB) + " up --dir " + lab + " --nodes 2 --owner $$ && cat " +
                               lab + "/node/n1 && (" + lab +
                               "/on ctl srun -N2 sleep 1000 &) && sleep 1; kill -9 $$";
    const CommandResult owner = run_command({"sh", "-c", script}, Seconds(60));
    ASSERT_EQ(owner.exit_code, 128 + SIGKILL) << owner.error;
    const std::string first_process = sorted_lines(owner.output).front();
    EXPECT_TRUE(wait_until([&] { return !std::filesystem::exists(lab); }, Seconds(20)));
    EXPECT_FALSE(std::filesystem::exists("/proc/" + first_process));
    EXPECT_EQ(run_command({"pgrep", "-f", lab}, Seconds(10)).output, "");
    EXPECT_THAT(read_text_file("/proc/self/mounts"), testing::Not(HasSubstr(lab)));
}

}  // namespace
}  // namespace mastic::test
