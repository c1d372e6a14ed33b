// Whatever is killed, and whenever: no daemon and no directory stays.
#include <algorithm>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/process.hpp>
#include <mastic/core/random.hpp>

#include "colocation/fake_node.hpp"

namespace mastic::test {
namespace {

constexpr int rounds = 100;
constexpr int ranks = 3;

struct Round {
    CounterRandom random;
    FakeNode node;
    std::vector<pid_t> started = {};
    bool slurm = random.below(2) == 0;

    explicit Round(int number) : random(20, static_cast<std::uint64_t>(number) << 32) {}

    void start() {
        node.set("CUDA_VISIBLE_DEVICES", "0,1");
        const std::string job = std::to_string(random.below(1'000'000));
        for (int rank = 0; rank < ranks; ++rank) {
            const std::string number = std::to_string(rank);
            const std::string size = std::to_string(ranks);
            std::map<std::string, std::string> variables = {{"PMI_RANK", number},
                                                            {"PMI_SIZE", size},
                                                            {"MPI_LOCALRANKID", number},
                                                            {"MPI_LOCALNRANKS", size}};
            if (slurm) {
                variables = {{"SLURM_JOB_ID", job},          {"SLURM_STEP_ID", "0"},
                             {"SLURM_PROCID", number},       {"SLURM_LOCALID", number},
                             {"SLURM_STEP_NUM_TASKS", size}, {"SLURM_STEP_TASKS_PER_NODE", size}};
            }
            started.push_back(node.start({"--mps", "on", "--", "sleep", "0.3"}, variables));
        }
    }

    void wait(int most_ms) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(random.below(static_cast<std::uint64_t>(most_ms))));
    }

    // Of the daemon's processes, if there are any by now.
    void kill_daemon() {
        const auto daemons = node.daemons();
        if (!daemons.empty()) {
            kill(daemons[random.below(daemons.size())], SIGKILL);
        }
    }

    // As the end of a cgroup: also what is started meanwhile.
    void kill_everything() {
        eventually([&] {
            const auto processes = node.processes();
            std::ranges::for_each(processes, [](pid_t process) { kill(process, SIGKILL); });
            return processes.empty();
        });
    }

    // One, several or all ranks or launchers; the daemon; or all at once, as the end of a cgroup.
    std::string strike() {
        const int signal = random.below(3) == 0 ? SIGTERM : SIGKILL;
        switch (random.below(4)) {
            case 0:
                kill(started[random.below(ranks)], signal);
                return "one rank";
            case 1:
                std::ranges::for_each(started, [&](pid_t rank) { kill(rank, signal); });
                return "all ranks";
            case 2:
                kill_daemon();
                return "the daemon";
            default:
                kill_everything();
                return "everything";
        }
    }

    // Without help all goes, unless the keeper was killed too: then `clean` must find what it left.
    bool clean_in_the_end(bool keeper_killed) {
        for (const pid_t rank : started) {
            wait_for_exit(rank);
        }
        if (keeper_killed) {
            node.mps({"clean"});
        }
        return eventually([&] { return node.all_gone(); });
    }
};

TEST(Kills, LeaveNoDaemonAndNoDirectory) {
    for (int number = 0; number < rounds; ++number) {
        Round round(number);
        round.start();
        round.wait(number % 2 == 0 ? 100 : 500);  // while MPS starts; while the ranks run
        std::string targets = round.strike();
        if (targets != "everything" && round.random.below(2) == 0) {
            round.wait(50);
            targets = round.strike() + " after " + targets;
        }
        ASSERT_TRUE(round.clean_in_the_end(targets.starts_with("everything")))
            << "round " << number << (round.slurm ? " under Slurm, " : ", ") << targets << ": "
            << testing::PrintToString(round.node.session_names())
            << testing::PrintToString(round.node.daemons());
    }
}

}  // namespace
}  // namespace mastic::test
