#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/trial.hpp>
#include <mastic/config/text.hpp>

#include "support/temp_dir.hpp"

namespace mastic::colocation {
namespace {

using testing::HasSubstr;

report::StepRecord step(std::int64_t number, double time_s, std::int64_t samples) {
    report::StepRecord record;
    record.step = number;
    record.time_s = time_s;
    record.samples = samples;
    return record;
}

std::string metrics(int steps, double step_s) {
    std::string lines;
    for (int i = 1; i <= steps; ++i) {
        const double slow_start = 10;  // what a warm-up costs
        lines += report::to_json_line(step(i, slow_start + i * step_s, 32 * i)) + "\n";
    }
    return lines;
}

TEST(SteadyThroughput, LeavesOutTheWarmUp) {
    EXPECT_NEAR(steady_throughput(report::parse_metrics(metrics(30, 0.1))), 320, 1e-6);
    EXPECT_EQ(steady_throughput(report::parse_metrics(metrics(4, 0.1))), 0) << "too few steps";
    EXPECT_EQ(steady_throughput({}), 0);
}

TEST(TrialArguments, AreFilledIn) {
    EXPECT_EQ(config::join(fill_arguments({"--run.dir={dir}", "--n={steps}", "--t={time}", "x"}, "/a b", 7,
                                          Seconds(90)),
                           " "),
              "--run.dir=/a b --n=7 --t=90s x");
}

class RunTrial : public testing::Test {
  protected:
    Trial run(const std::string& script, Seconds limit = Seconds(60)) {
        Bytes used{100};
        TrialRequest request;
        request.words = {"sh", "-c", script};
        request.directory = dir_ / "trial";
        request.limit = limit;
        request.memory = [used]() mutable {
            used.count += 100;
            return MemoryReading{used, {1000}};
        };
        request.stop_asked = [this] { return stop_; };
        return run_trial(request, 2);
    }
    test::TempDir dir_;
    bool stop_ = false;
};

TEST_F(RunTrial, ReadsWhatTheProgramWrote) {
    dir_.write("metrics", metrics(12, 0.01));
    const Trial trial = run("cp " + (dir_ / "metrics").string() + " " +
                            (dir_ / "trial/metrics.jsonl").string() + "; exit 75");
    EXPECT_EQ(trial.problem, "");
    EXPECT_EQ(trial.ranks_per_device, 2);
    EXPECT_NEAR(trial.samples_per_s, 3200, 1e-3);
    EXPECT_EQ(trial.memory_before.count, 200u);
    EXPECT_GE(trial.memory_peak.count, 300u);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "trial")) << "nothing is left";
}

TEST_F(RunTrial, TellsTheEndOfAFailure) {
    EXPECT_THAT(run("echo no data >&2; exit 3").problem, HasSubstr("ended with code 3\nno data"));
    EXPECT_THAT(run("exit 0").problem, HasSubstr("too few steps"));
}

TEST_F(RunTrial, EndsAProgramThatTakesTooLongOrIsToStop) {
    EXPECT_THAT(run("exec sleep 600", Seconds(0.2)).problem, HasSubstr("ended with code 143"));
    stop_ = true;
    EXPECT_THAT(run("exec sleep 600").problem, HasSubstr("ended with code 143"));
}

TEST(NodeMemory, IsWhatTheKernelSays) {
    const MemoryReading reading = parse_meminfo(
        "MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:    400 kB\nHugePages_Total: 0\n");
    EXPECT_EQ(reading.used.count, 600u << 10);
    EXPECT_EQ(reading.total.count, 1000u << 10);
    EXPECT_EQ(parse_meminfo("").total.count, 0u);
}

}  // namespace
}  // namespace mastic::colocation
