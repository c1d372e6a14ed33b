// Elastic training by the real program: members join, leave and die; the result is that of a fixed run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mastic/core/file.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

constexpr int samples = 64;
constexpr int steps_of_an_epoch = 4;

// mastic-train as a member; killed with the test.
class MemberProcess {
  public:
    MemberProcess(const Arguments& arguments, std::filesystem::path output) : output_(std::move(output)), pid_(fork()) {
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            const int file = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(file, STDOUT_FILENO);
            dup2(file, STDERR_FILENO);
            std::vector<char*> argv = {const_cast<char*>(MASTIC_TRAIN)};
            for (const std::string& word : arguments) {
                argv.push_back(const_cast<char*>(word.c_str()));
            }
            argv.push_back(nullptr);
            execv(MASTIC_TRAIN, argv.data());
            _exit(127);
        }
    }
    ~MemberProcess() {
        if (pid_ > 0) {
            kill(SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    MemberProcess(MemberProcess&& other) noexcept : output_(std::move(other.output_)), pid_(std::exchange(other.pid_, -1)) {}

    void kill(int signal) const { ::kill(pid_, signal); }
    std::string output() const { return std::filesystem::exists(output_) ? read_text_file(output_) : ""; }
    // 128 + N: ended by signal N; -1: it does not end.
    int wait() {
        for (int tries = 0; tries < 6000; ++tries) {
            int status = 0;
            if (waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return -1;
    }

  private:
    std::filesystem::path output_;
    pid_t pid_;
};

bool eventually(const std::function<bool()>& condition) {
    for (int tries = 0; tries < 3000; ++tries) {
        if (condition()) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

class Elastic : public testing::Test {
  protected:
    // float64, so that another order of adding makes no difference that shows; a network that takes a while.
    Arguments task(int epochs, const Arguments& more = {}) const {
        Arguments arguments = {"--train.precision", "float64", "--model.hidden", "512,512", "--train.epochs",
                               std::to_string(epochs), "--output.progress", "never"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    MemberProcess start(int epochs, const Arguments& more = {}) {
        Arguments arguments = small_task(run, task(epochs, more));
        arguments.insert(arguments.end(), {"--elastic.join", run.string()});
        return {arguments, dir / ("member-" + std::to_string(++started) + ".txt")};
    }
    std::int64_t step() const {
        const auto file = run / "metrics.jsonl";
        if (!std::filesystem::exists(file)) {
            return 0;
        }
        const auto steps = metrics_of(run).steps;
        return steps.empty() ? 0 : steps.back().step;
    }
    bool passes(std::int64_t more) const {
        const std::int64_t from = step();
        return eventually([&] { return step() >= from + more; });
    }
    void expect_every_step_once(int epochs) const {
        test::expect_every_step_once(run, epochs * steps_of_an_epoch, samples / steps_of_an_epoch);
    }
    void expect_weights_of_a_fixed_run(int epochs) const {
        const std::filesystem::path fixed = dir / "fixed";
        train(2, small_task(fixed, task(epochs)));
        expect_nearly_identical(newest_state(run), newest_state(fixed));
    }

    TempDir dir;
    std::filesystem::path run = dir / "run";
    int started = 0;
};

TEST_F(Elastic, OneMemberAloneTrainsToTheEnd) {
    MemberProcess only = start(5);
    EXPECT_EQ(only.wait(), 0) << only.output();
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    expect_every_step_once(5);
    expect_weights_of_a_fixed_run(5);
}

TEST_F(Elastic, JoinsLeavesAndDeathsChangeNothingInTheResult) {
    constexpr int epochs = 500;
    MemberProcess first = start(epochs);
    ASSERT_TRUE(passes(20)) << first.output();
    MemberProcess second = start(epochs);
    MemberProcess third = start(epochs);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 3") != std::string::npos; })) << first.output();
    ASSERT_TRUE(passes(20));
    second.kill(SIGTERM);
    EXPECT_EQ(second.wait(), 75) << second.output();
    ASSERT_TRUE(passes(20)) << first.output();
    MemberProcess fourth = start(epochs);
    ASSERT_TRUE(eventually([&] { return fourth.output().find("of 3") != std::string::npos; })) << fourth.output();
    fourth.kill(SIGKILL);
    ASSERT_TRUE(eventually([&] { return third.output().rfind("of 2") > third.output().rfind("of 3"); })) << third.output();
    ASSERT_TRUE(passes(20)) << third.output();
    EXPECT_EQ(first.wait(), 0) << first.output();
    EXPECT_EQ(third.wait(), 0) << third.output();
    expect_every_step_once(epochs);
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, TheNextOneLeadsWhenTheLeaderDies) {
    constexpr int epochs = 400;
    MemberProcess first = start(epochs);
    ASSERT_TRUE(passes(20)) << first.output();
    MemberProcess second = start(epochs);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
    first.kill(SIGKILL);
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_THAT(second.output(), HasSubstr("leading the run"));
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    EXPECT_EQ(step_of(newest_state(run)), epochs * steps_of_an_epoch);
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, TheLeaderHandsOverWhenItLeaves) {
    constexpr int epochs = 400;
    MemberProcess first = start(epochs);
    ASSERT_TRUE(passes(20)) << first.output();
    MemberProcess second = start(epochs);
    ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
    first.kill(SIGTERM);
    EXPECT_EQ(first.wait(), 75) << first.output();
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_EQ(record_of(run).attempt.exit_code, 0);
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, TheLastMemberSavesWhenItIsAskedToStop) {
    MemberProcess only = start(100000);
    ASSERT_TRUE(passes(20)) << only.output();
    only.kill(SIGTERM);
    EXPECT_EQ(only.wait(), 75) << only.output();
    EXPECT_EQ(record_of(run).attempt.exit_code, 75);
    EXPECT_EQ(step_of(newest_state(run)), record_of(run).attempt.last_step);
}

TEST_F(Elastic, WhenAllDieTheNextStartResumes) {
    const Arguments saving = {"--checkpoint.every_steps", "20"};
    {
        MemberProcess first = start(100000, saving);
        ASSERT_TRUE(passes(10)) << first.output();
        MemberProcess second = start(100000, saving);
        ASSERT_TRUE(eventually([&] { return first.output().find("rank 0 of 2") != std::string::npos; })) << first.output();
        ASSERT_TRUE(passes(50));
    }  // both are killed
    const std::int64_t saved = step_of(newest_state(run));
    ASSERT_GT(saved, 0);
    const int epochs = static_cast<int>(saved / steps_of_an_epoch + 5);
    MemberProcess next = start(epochs, saving);
    EXPECT_EQ(next.wait(), 0) << next.output();
    EXPECT_THAT(next.output(), HasSubstr("resumed at step " + std::to_string(saved)));
    expect_weights_of_a_fixed_run(epochs);
}

TEST_F(Elastic, AnotherConfigurationIsRefused) {
    MemberProcess first = start(100000);
    ASSERT_TRUE(passes(10)) << first.output();
    MemberProcess other = start(100000, {"--optimizer.learning_rate", "0.1"});
    EXPECT_EQ(other.wait(), 4) << other.output();
    EXPECT_THAT(other.output(), HasSubstr("configuration"));
    EXPECT_TRUE(passes(10)) << "the run is not disturbed";
}

}  // namespace
}  // namespace mastic::test
