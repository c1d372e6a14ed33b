// slurm/pilot.sbatch as it is shipped: jobs of one node that train together, and come and go as Slurm wants.
#include <chrono>

#include <gmock/gmock.h>

#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>

#include "cluster/shipped_script.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int batch = 16;
constexpr int steps = 2000;
constexpr int cancel_grace_s = 20;

ClusterEnvironment* const environment = ClusterEnvironment::add(
    {.nodes = 4, .cancel_grace_s = cancel_grace_s, .settings = {"KillWait=20", "SlurmdTimeout=3", "MessageTimeout=2"}});

class Pilots : public testing::Test {
  protected:
    void SetUp() override {
        for (int pilot = 1; pilot <= 3; ++pilot) {  // one after the other: the first one leads
            jobs.push_back(start());
            wait_for_members(pilot);
        }
    }
    void TearDown() override { cluster.clear(); }

    // float64, so that another order of adding makes no difference that shows.
    Arguments task(const std::filesystem::path& directory, const Arguments& more = {}) const {
        Arguments arguments = {"--train.precision",   "float64",        "--train.max_steps",
                               std::to_string(steps), "--train.epochs", "1000000"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return small_task(directory, arguments);
    }

    std::string start() {
        Arguments arguments = task(run, {"--train.inject", "slow@4000"});
        arguments.insert(arguments.begin(), run.string());
        return script.start(arguments, {"-p", "cancel"});
    }

    std::string node_of(const std::string& job) const { return cluster.show(job).at("NodeList"); }

    report::StepRecord last_step() const {
        const auto file = job::RunDirectory{run}.metrics_file();
        constexpr std::uint64_t some_steps = 4000;
        const auto records = std::filesystem::exists(file) ? report::read_metrics(file, some_steps).steps
                                                           : std::vector<report::StepRecord>{};
        return records.empty() ? report::StepRecord{} : records.back();
    }

    void wait_for_members(int members) const {
        ASSERT_TRUE(wait_until([&] { return last_step().step > 0 && last_step().world_size == members; },
                               Seconds(60)))
            << members << " members; now " << last_step().world_size << " at step " << last_step().step
            << "\n"
            << script.log(jobs.back());
    }

    void expect_the_result_of_a_fixed_run() const {
        EXPECT_TRUE(wait_until([&] { return record_of(run).attempt.exit_code.has_value(); }, Seconds(200)))
            << script.log(jobs[0]);
        EXPECT_EQ(record_of(run).attempt.exit_code, 0) << script.log(jobs[0]);
        expect_every_step_once(run, steps, batch);
        const std::filesystem::path fixed = dir / "fixed";
        train(2, task(fixed));
        expect_nearly_identical(newest_state(run), newest_state(fixed));
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    std::filesystem::path run = dir / "run";
    ShippedScript script{cluster, PILOT_SCRIPT, dir.path()};
    std::vector<std::string> jobs;
};

TEST_F(Pilots, APreemptedOneLeavesAndComesAgain) {
    // Three nodes are taken: Slurm chooses one of the pilots to make room.
    const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N2", "--exclusive", "sleep", "2"});
    EXPECT_EQ(urgent.exit_code, 0) << urgent.error;
    std::string preempted;
    for (const std::string& job : jobs) {
        if (script.log(job).find("left the run") != std::string::npos) {
            EXPECT_EQ(preempted, "") << "more than one left";
            preempted = job;
        }
    }
    ASSERT_NE(preempted, "") << script.log(jobs[1]) << script.log(jobs[2]);
    EXPECT_EQ(cluster.wait_end(preempted), "FAILED");
    EXPECT_EQ(cluster.exit_code(preempted), 75) << script.log(preempted);
    EXPECT_THAT(script.log(preempted), HasSubstr("goes on, with the same log"));
    wait_for_members(3);  // it came again
    expect_the_result_of_a_fixed_run();
    EXPECT_TRUE(wait_until([&] { return queue(cluster).empty(); }, Seconds(30)))
        << "nobody comes again once the run is done";
}

// As with a fixed run, but nobody waits for it, so it does not even load libtorch.
TEST_F(Pilots, OneThatIsPreemptedBeforeItsStepLeavesAtOnce) {
    script.start_the_step_too_late();
    const std::string late = start();
    cluster.wait_state(late, {"RUNNING"});
    const auto begin = std::chrono::steady_clock::now();
    const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N1", "-w", node_of(late), "--exclusive", "true"});
    EXPECT_EQ(urgent.exit_code, 0) << urgent.error;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(cancel_grace_s)) << script.log(late);
    script.expect_told(late, "told to end before it had joined");
    script.expect_told(late, "goes on, with the same log");
}

TEST_F(Pilots, ANodeWithoutPowerCostsNoStep) {
    cluster.node_down(node_of(jobs[2]));
    wait_for_members(2);
    expect_the_result_of_a_fixed_run();
    EXPECT_EQ(cluster.wait_end(jobs[0]), "COMPLETED") << script.log(jobs[0]);
    EXPECT_EQ(cluster.wait_end(jobs[1]), "COMPLETED") << script.log(jobs[1]);
}

TEST_F(Pilots, OfACutOnlyOnePartGoesOn) {
    const std::string node = node_of(jobs[2]);
    cluster.cut(node);
    wait_for_members(2);
    EXPECT_TRUE(wait_until(
        [&] {
            return cluster.run_on(node, {"pgrep", "-x", "mastic-train"}).exit_code != 0;
        },
        Seconds(90)))
        << "the part that was cut off must stop: " << script.log(jobs[2]);
    EXPECT_THAT(script.log(jobs[2]), testing::Not(HasSubstr("leading the run"))) << "it must not go on alone";
    cluster.heal(node);
    expect_the_result_of_a_fixed_run();
}

}  // namespace
}  // namespace mastic::test
