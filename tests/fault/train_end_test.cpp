// Runs that end before they are done: signals, time limits, killed ranks, numbers that are not finite, full disks.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include <mastic/core/bytes.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/job/signals.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::test {
namespace {

constexpr const char* many_steps = "1000000";

Arguments endless(Arguments more = {}) {
    more.insert(more.end(), {"--train.epochs", many_steps});
    return more;
}

// Runs `action` on another thread as soon as the run has done some steps.
class WhenTraining {
  public:
    WhenTraining(std::filesystem::path run_dir, std::function<void()> action)
        : thread_([run_dir = std::move(run_dir), action = std::move(action)] {
              for (int i = 0; i < 1000; ++i) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                  const auto file = job::RunDirectory{run_dir}.metrics_file();
                  if (std::filesystem::exists(file) && std::filesystem::file_size(file) > 2000) {
                      return action();
                  }
              }
          }) {}
    ~WhenTraining() { thread_.join(); }

  private:
    std::thread thread_;
};

// The processes of mastic-train that work in this run directory, found by their command line.
std::vector<pid_t> ranks_of(const std::filesystem::path& run_dir) {
    std::vector<pid_t> ranks;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != name.npos) {
            continue;
        }
        std::ifstream file(entry.path() / "cmdline");
        const std::string line{std::istreambuf_iterator<char>(file), {}};
        if (line.starts_with(MASTIC_TRAIN) && line.find(run_dir.string()) != line.npos) {
            ranks.push_back(std::stoi(name));
        }
    }
    return ranks;
}

bool is_trainer(pid_t process) {
    std::error_code gone;
    const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", gone);
    return program.parent_path() != std::filesystem::path(MASTIC_TRAIN).parent_path() && !gone;
}

class TrainEnd : public testing::Test {
  protected:
    // Checkpoints that were made until now.
    std::ptrdiff_t saves() const {
        const auto events = metrics_of(run).events;
        return std::ranges::count(events, "checkpoint", &report::EventRecord::kind);
    }

    TempDir dir;
    std::filesystem::path run = dir / "run";
};

class TrainSignal : public TrainEnd, public testing::WithParamInterface<int> {};

// As reported in Lightning 6626: the signal may reach one rank or all; all save at the same step.
TEST_P(TrainSignal, SavesAndAsksForARequeue) {
    const WhenTraining stop(run, [this] {
        const auto ranks = ranks_of(run);
        ASSERT_EQ(ranks.size(), 2u);
        kill(ranks.back(), GetParam());
    });
    const ProgramResult result = run_ranks(2, small_task(run, endless()));
    EXPECT_EQ(result.exit_code, 75) << result.text;
    const report::RunRecord record = record_of(run);
    EXPECT_EQ(record.attempt.exit_code, 75);
    EXPECT_EQ(record.attempt.reason, job::to_string(job::stop_reason_of(GetParam())));
    EXPECT_EQ(step_of(newest_state(run)), record.attempt.last_step);
}

INSTANTIATE_TEST_SUITE_P(Signals, TrainSignal, testing::Values(SIGTERM, SIGUSR1));

TEST_F(TrainEnd, Usr2SavesAndGoesOn) {
    const WhenTraining save(run, [this] {
        const auto ranks = ranks_of(run);
        ASSERT_EQ(ranks.size(), 2u);
        kill(ranks[0], SIGUSR2);
        for (int i = 0; i < 1000 && saves() == 0; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        kill(ranks[0], SIGTERM);
    });
    const ProgramResult result = run_ranks(2, small_task(run, endless()));
    EXPECT_EQ(result.exit_code, 75) << result.text;
    EXPECT_EQ(saves(), 2);  // the asked one and the last one
}

TEST_F(TrainEnd, ARunWhoseDirectoryIsDeletedEnds) {
    const WhenTraining remove(run, [this] {
        std::error_code meanwhile_written;
        std::filesystem::remove_all(run, meanwhile_written);
    });
    const ProgramResult result = run_ranks(2, small_task(run, endless()));
    EXPECT_EQ(result.exit_code, 5) << result.text;
    EXPECT_NE(result.text.find("was removed while it was being written"), std::string::npos) << result.text;
}

// As reported in cp2k 4399.
TEST_F(TrainEnd, ATimeLimitIsMet) {
    const auto begin = std::chrono::steady_clock::now();
    const ProgramResult result =
        run_ranks(2, small_task(run, endless({"--job.time_limit", "15s", "--job.margin", "5s"})));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
    EXPECT_EQ(result.exit_code, 75) << result.text;
    EXPECT_EQ(record_of(run).attempt.reason, "time limit");
}

// As reported in torchrec 189, lbann 905: hydra's part of it; the batch script's is tested on a real cluster.
TEST_F(TrainEnd, AKilledRankEndsTheRunAndTheNextOneGoesOn) {
    const Arguments options = {"--train.epochs", "5", "--checkpoint.every_steps", "4"};
    Arguments fault = options;
    fault.insert(fault.end(), {"--train.inject", "kill@13:1"});
    const ProgramResult result = run_ranks(2, small_task(run, fault));
    EXPECT_NE(result.exit_code, 0);
    EXPECT_FALSE(record_of(run).attempt.exit_code.has_value());
    const ProgramResult finish = run_program({"finish", run.string(), "137"});
    EXPECT_EQ(finish.exit_code, 0) << finish.text;
    EXPECT_EQ(record_of(run).attempt.exit_code, 7);
    EXPECT_NE(record_of(run).attempt.reason.find("137"), std::string::npos);
    EXPECT_NE(record_of(run).attempt.reason.find("rank 1 on"), std::string::npos) << record_of(run).attempt.reason;

    train(2, small_task(run, options));
    train(2, small_task(dir / "whole", options));
    expect_identical(newest_state(run), newest_state(dir / "whole"));
}

TEST_F(TrainEnd, ACrashedRankIsNamedWithItsBacktrace) {
    EXPECT_NE(run_ranks(2, small_task(run, {"--train.inject", "crash@3:1"})).exit_code, 0);
    const std::string page = run_program({"why", run.string()}).text;
    EXPECT_NE(page.find("rank 1 on"), std::string::npos) << page;
    EXPECT_NE(page.find("SIGSEGV in step 4 (forward)"), std::string::npos) << page;
    EXPECT_NE(page.find("FaultInjection::before_backward"), std::string::npos) << page;
    // The next start is not blamed for it.
    train(2, small_task(run));
    EXPECT_NE(run_program({"why", run.string()}).text.find("finished"), std::string::npos);
}

// A rank that neither comes nor dies: the others report it and end.
TEST_F(TrainEnd, AStalledRankIsReportedAndEndsTheRun) {
    const ProgramResult result =
        run_ranks(2, small_task(run, {"--train.inject", "stall@3:1", "--allreduce.stall_report", "1s",
                                      "--allreduce.timeout", "3s"}));
    EXPECT_EQ(result.exit_code, 7) << result.text;
    EXPECT_NE(result.text.find("bucket 0"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("rank 1 (not started)"), std::string::npos) << result.text;
    EXPECT_EQ(record_of(run).attempt.exit_code, 7);
}

// As reported in pocket-tts 262, NeMo 578.
TEST_F(TrainEnd, ANumberThatIsNotFiniteStopsAllRanksBeforeTheUpdate) {
    const ProgramResult result = run_ranks(3, small_task(run, {"--train.epochs", "5", "--train.inject",
                                                               "nan@5:1", "--checkpoint.every_steps", "2"}));
    EXPECT_EQ(result.exit_code, 8) << result.text;
    EXPECT_NE(result.text.find("on rank 1 in step 6"), std::string::npos) << result.text;
    EXPECT_EQ(record_of(run).attempt.exit_code, 8);
    EXPECT_LT(step_of(newest_state(run)), 6) << "a checkpoint of the bad step";
}

// As reported in sisyphus 201.
TEST_F(TrainEnd, ASecondRunInTheSameDirectoryIsRefused) {
    ProgramResult second;
    const WhenTraining start(run, [&] {
        second = run_ranks(2, small_task(run, endless()));
        kill(ranks_of(run).at(0), SIGTERM);
    });
    const ProgramResult first = run_ranks(2, small_task(run, endless()));
    EXPECT_EQ(first.exit_code, 75) << first.text;
    EXPECT_EQ(second.exit_code, 5) << second.text;
    EXPECT_NE(second.text.find("in use by"), std::string::npos) << second.text;
}

// As reported in h5py 879 and scr 174.
TEST_F(TrainEnd, ADamagedCheckpointIsNamedAndAnOlderOneUsed) {
    const Arguments options = {"--train.epochs", "100", "--checkpoint.every_steps", "5"};
    Arguments ten = options, twenty = options;
    ten.insert(ten.end(), {"--train.max_steps", "10"});
    twenty.insert(twenty.end(), {"--train.max_steps", "20"});
    train(1, small_task(run, ten));
    const auto generation = run / "checkpoints" / "step-000000000010";
    for (const auto& file : std::filesystem::directory_iterator(generation)) {
        if (file.path().extension() == ".h5") {
            std::filesystem::resize_file(file.path(), 5000);
        }
    }
    const ProgramResult verify = run_program({"--checkpoint.verify", run.string()});
    EXPECT_EQ(verify.exit_code, 6) << verify.text;
    const ProgramResult result = run_ranks(1, small_task(run, twenty));
    EXPECT_EQ(result.exit_code, 0) << result.text;
    EXPECT_NE(result.text.find("step-000000000010"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("resumed at step 5"), std::string::npos) << result.text;
}

TEST_F(TrainEnd, NeverStartsOverWhenNoCheckpointIsUsable) {
    train(1, small_task(run, {"--train.max_steps", "3"}));
    for (const auto& generation : std::filesystem::directory_iterator(run / "checkpoints")) {
        if (generation.is_directory()) {
            std::filesystem::remove(generation.path() / "manifest.json");
        }
    }
    const ProgramResult result = run_ranks(1, small_task(run, {"--train.max_steps", "6"}));
    EXPECT_EQ(result.exit_code, 6) << result.text;
}

TEST_F(TrainEnd, NeverStartsOverWhenTheCheckpointsAreGone) {
    train(1, small_task(run, {"--train.max_steps", "3"}));
    std::filesystem::remove_all(run / "checkpoints");
    const ProgramResult result = run_ranks(2, small_task(run, {"--train.max_steps", "6"}));
    EXPECT_EQ(result.exit_code, 6) << result.text;
    EXPECT_NE(result.text.find("step-000000000003"), std::string::npos) << result.text;
}

TEST_F(TrainEnd, ASignalDuringTheStartStopsTheFirstStep) {
    // As soon as the trainer, which the started program becomes, is being loaded.
    std::thread stop([this] {
        std::set<pid_t> stopped;
        for (int i = 0; i < 60'000 && stopped.size() < 2; ++i) {
            for (const pid_t rank : ranks_of(run)) {
                if (is_trainer(rank) && stopped.insert(rank).second) {
                    kill(rank, SIGTERM);
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    const ProgramResult result = run_ranks(2, small_task(run, endless()));
    stop.join();
    EXPECT_EQ(result.exit_code, 75) << result.text;
    EXPECT_GE(step_of(newest_state(run)), 1);
}

TEST_F(TrainEnd, SignalsThatComeAgainAndAgainChangeNothing) {
    const WhenTraining storm(run, [this] {
        const auto ranks = ranks_of(run);
        for (int i = 0; i < 30; ++i) {
            for (const pid_t rank : ranks) {
                kill(rank, SIGTERM);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    });
    const ProgramResult result = run_ranks(2, small_task(run, endless()));
    EXPECT_EQ(result.exit_code, 75) << result.text;
}

// As reported in PyTables 695.
TEST_F(TrainEnd, AFullDiskIsToldBeforeTraining) {
    const TmpfsMount disk(Bytes{4u << 20});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const ProgramResult result =
        run_ranks(2, small_task(disk.path() / "run", {"--model.hidden", "2000,2000"}));
    EXPECT_EQ(result.exit_code, 5) << result.text;
    EXPECT_NE(result.text.find("two checkpoints"), std::string::npos) << result.text;
}

TEST_F(TrainEnd, ADiskThatFillsUpLeavesTheOldCheckpoint) {
    const TmpfsMount disk(Bytes{4u << 20});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    // A checkpoint has 1.2 MB; the second one no longer fits once half of the disk is taken.
    const auto path = disk.path() / "run";
    const Arguments options = {"--model.hidden",           "350,350", "--train.epochs", "100",
                               "--checkpoint.every_steps", "10"};
    Arguments ten = options;
    ten.insert(ten.end(), {"--train.max_steps", "10"});
    train(2, small_task(path, ten));
    write_file(disk.path() / "other", std::string(std::size_t{1700} << 10, 'x'));
    Arguments more = options;
    more.insert(more.end(), {"--train.max_steps", "40"});
    const ProgramResult result = run_ranks(2, small_task(path, more));
    EXPECT_EQ(result.exit_code, 5) << result.text;
    EXPECT_EQ(step_of(newest_state(path)), 10);
    for (const auto& file : std::filesystem::recursive_directory_iterator(path)) {
        EXPECT_EQ(file.path().filename().string().find("tmp"), std::string::npos) << file.path();
    }
}

TEST_F(TrainEnd, AReadOnlyDirectoryIsTold) {
    TmpfsMount disk(Bytes{4u << 20});
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    disk.make_read_only();
    const ProgramResult result = run_ranks(2, small_task(disk.path() / "run"));
    EXPECT_EQ(result.exit_code, 5) << result.text;
}

}  // namespace
}  // namespace mastic::test
