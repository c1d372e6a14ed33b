// The commands beside training, on a run that exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

constexpr int samples = 40;

// Four classes that a line can tell apart: class = which of the first four cells is the largest.
std::string csv_samples(bool labelled) {
    std::string text = labelled ? "a,b,c,d,label\n" : "a,b,c,d\n";
    for (int i = 0; i < samples; ++i) {
        for (int cell = 0; cell < 4; ++cell) {
            text += (cell > 0 ? "," : "") + std::to_string(cell == i % 4 ? 2.0 : 0.1 * (i % 3));
        }
        text += labelled ? "," + std::to_string(i % 4) + "\n" : "\n";
    }
    return text;
}

// One run, trained once for all tests of this file.
class Commands : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        dir_ = new TempDir;
        const std::string data = dir_->write("samples.csv", csv_samples(true)).string();
        const Arguments options = {"--data.format", "csv", "--data.limit", "0", "--data.input_shape", "4",
                                   "--data.train_inputs", data, "--data.test_inputs", data,
                                   "--train.epochs", "15", "--train.batch_size", "8", "--output.trace"};
        train(2, small_task(run(), options));
    }
    static void TearDownTestSuite() { delete dir_; }

    static std::filesystem::path run() { return *dir_ / "run"; }
    static std::filesystem::path file(const std::string& name) { return *dir_ / name; }

    static ProgramResult command(const Arguments& arguments) {
        ProgramResult result = run_program(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.text;
        return result;
    }

    static TempDir* dir_;
};

TempDir* Commands::dir_ = nullptr;

TEST_F(Commands, TheRunLearnedItsTask) {
    const report::RunRecord record = record_of(run());
    EXPECT_EQ(record.attempt.exit_code, 0);
    ASSERT_TRUE(record.best.has_value());
    EXPECT_GT(record.best->value, 0.9);
    EXPECT_EQ(metrics_of(run()).evaluations.size(), 15u);
}

TEST_F(Commands, EvaluatePrintsTheMetricsOfTheStoredNetwork) {
    const ProgramResult result = command({"evaluate", run().string()});
    EXPECT_NE(result.text.find("samples   40"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("accuracy  1"), std::string::npos) << result.text;
}

TEST_F(Commands, PredictWritesCsvWithTheRightClasses) {
    const std::string inputs = dir_->write("inputs.csv", csv_samples(false)).string();
    command({"predict", run().string(), inputs, file("out.csv").string()});
    std::ifstream out(file("out.csv"));
    std::string line;
    std::getline(out, line);
    EXPECT_EQ(line, "sample,class,output0,output1,output2,output3");
    for (int i = 0; i < samples; ++i) {
        ASSERT_TRUE(std::getline(out, line));
        EXPECT_TRUE(line.starts_with(std::to_string(i) + "," + std::to_string(i % 4) + ",")) << line;
    }
}

TEST_F(Commands, PredictWritesHdf5AndRefusesOtherEndings) {
    const std::string inputs = dir_->write("inputs.csv", csv_samples(false)).string();
    command({"predict", run().string(), inputs, file("out.h5").string()});
    EXPECT_EQ(read_text_file(file("out.h5")).substr(1, 3), "HDF");
    EXPECT_EQ(run_program({"predict", run().string(), inputs, file("out.xyz").string()}).exit_code, 2);
}

TEST_F(Commands, ExportedNetworksCanBeTrainedAndFineTuned) {
    command({"export", run().string(), file("net.pt").string()});
    command({"export", run().string(), file("net.safetensors").string()});
    const std::string data = file("samples.csv").string();
    const Arguments base = {"--data.format", "csv", "--data.limit", "0", "--data.input_shape", "4",
                            "--data.train_inputs", data, "--data.test_inputs", data, "--train.epochs", "1",
                            "--train.batch_size", "8", "--optimizer.learning_rate", "0.0001"};
    Arguments script = base, tuned = base;
    script.insert(script.end(), {"--model.file", file("net.pt").string()});
    tuned.insert(tuned.end(), {"--model.init", file("net.safetensors").string()});
    train(2, small_task(file("from-script"), script));
    train(2, small_task(file("tuned"), tuned));
    EXPECT_GT(record_of(file("from-script")).best->value, 0.9);
    EXPECT_GT(record_of(file("tuned")).best->value, 0.9);
    EXPECT_NEAR(losses_of(file("from-script")).front(), losses_of(file("tuned")).front(), 1e-6);
}

TEST_F(Commands, StatusCompareAndReportDescribeIt) {
    EXPECT_NE(command({"status", run().string()}).text.find("finished"), std::string::npos);
    EXPECT_NE(command({"compare", run().string(), run().string()}).text.find("accuracy"), std::string::npos);
    command({"report", run().string()});
    const std::string page = read_text_file(run() / "report.html");
    EXPECT_NE(page.find("<svg"), std::string::npos);
    EXPECT_NE(page.find("</html>"), std::string::npos);
}

TEST_F(Commands, VerifyAgreesThatAllIsWell) {
    const ProgramResult result = command({"--checkpoint.verify", run().string()});
    EXPECT_NE(result.text.find("step-"), std::string::npos) << result.text;
}

TEST_F(Commands, TheTraceOfEachRankHasAllPhases) {
    for (const char* name : {"rank-0.json", "rank-1.json"}) {
        std::string text = read_text_file(run() / "trace" / name);
        if (text.find(']') == text.npos || text[text.find_last_not_of(" \n")] != ']') {
            text += "]";
        }
        const auto trace = nlohmann::json::parse(text);
        for (const char* phase : {"forward", "backward", "bucket 0", "optimizer", "checkpoint stall"}) {
            EXPECT_TRUE(std::ranges::any_of(trace, [&](const auto& e) { return e.value("name", "") == phase; }))
                << phase << " in " << name;
        }
    }
}

TEST_F(Commands, ADamagedPinOfTheBestIsWrittenAnewOrPassedOver) {
    const auto copy = file("pin");
    std::filesystem::copy(run(), copy, std::filesystem::copy_options::recursive);
    write_file(copy / "checkpoints" / "best.json", "garbage");
    EXPECT_NE(command({"evaluate", copy.string()}).text.find("newest"), std::string::npos);
    const std::string data = file("samples.csv").string();
    train(2, small_task(copy, {"--data.format", "csv", "--data.limit", "0", "--data.input_shape", "4",
                               "--data.train_inputs", data, "--data.test_inputs", data, "--train.epochs", "16",
                               "--train.batch_size", "8"}));
    EXPECT_EQ(command({"evaluate", copy.string()}).text.find("newest"), std::string::npos);
}

// The best value was that of a checkpoint that is gone: all ranks forget it together and agree on the next.
TEST_F(Commands, APinWhoseCheckpointIsGoneIsForgottenByAllRanks) {
    const auto copy = file("unpinned");
    std::filesystem::copy(run(), copy, std::filesystem::copy_options::recursive);
    const std::int64_t best = record_of(copy).best->step;
    ASSERT_LT(best, record_of(copy).attempt.last_step);
    std::string name = std::to_string(best);
    name.insert(0, 12 - name.size(), '0');
    std::filesystem::remove_all(copy / "checkpoints" / ("step-" + name));
    std::filesystem::remove(copy / "checkpoints" / "best.json");
    const std::string data = file("samples.csv").string();
    train(2, small_task(copy, {"--data.format", "csv", "--data.limit", "0", "--data.input_shape", "4",
                               "--data.train_inputs", data, "--data.test_inputs", data, "--train.epochs", "18",
                               "--train.batch_size", "8", "--allreduce.timeout", "10s"}));
    EXPECT_GT(record_of(copy).best->step, best);
}

TEST_F(Commands, ARunThatIsNotThereIsSaid) {
    for (const char* command : {"status", "report", "compare", "evaluate", "finish", "why"}) {
        const ProgramResult result = run_program({command, file("nowhere").string()});
        EXPECT_EQ(result.exit_code, 2) << command << ": " << result.text;
        EXPECT_NE(result.text.find("nowhere"), std::string::npos) << result.text;
    }
}

TEST_F(Commands, WhyFindsTheRunOfASlurmJob) {
    const std::filesystem::path copy = file("of-job");
    std::filesystem::copy(run(), copy, std::filesystem::copy_options::recursive);
    report::RunRecord record = record_of(copy);
    record.attempt.job_id = "987654";
    report::write_run_record(job::RunDirectory(copy).summary_file(), record);
    const auto why = [&](const std::string& job) {
        return run_command({"env", "--chdir=" + dir_->path().string(), MASTIC_TRAIN, "why", job}, Seconds(60));
    };
    EXPECT_NE(why("987654").output.find("of-job"), std::string::npos) << why("987654").error;
    EXPECT_EQ(why("987655").exit_code, 2);
    EXPECT_EQ(why("12;3").exit_code, 2);
}

TEST(Device, CudaIsRefusedWhereThereIsNoneAndAutoTakesTheCores) {
    if (run_command({"nvidia-smi", "-L"}, Seconds(20)).exit_code == 0) {
        GTEST_SKIP() << "there is a GPU here";
    }
    const TempDir dir;
    const ProgramResult refused = run_ranks(2, small_task(dir / "run", {"--train.device", "cuda"}));
    EXPECT_EQ(refused.exit_code, 4) << refused.text;
    EXPECT_NE(refused.text.find("train.device is cuda, but"), std::string::npos) << refused.text;
    EXPECT_FALSE(std::filesystem::exists(dir / "run"));
    train(1, small_task(dir / "run", {"--train.device", "auto"}));
}

TEST(Information, BindingsAreShownWithoutTraining) {
    const std::string table = run_ranks(2, {"--print-binding"}).text;
    EXPECT_NE(table.find("CPUs"), std::string::npos) << table;
    EXPECT_EQ(std::ranges::count(table, '\n'), 3) << table;
}

TEST(Information, IsPrintedWithoutTraining) {
    EXPECT_NE(run_program({"--help"}).text.find("evaluate"), std::string::npos);
    EXPECT_NE(run_program({"--version"}).text.find("MPICH"), std::string::npos);
    const auto versions = nlohmann::json::parse(run_program({"--version", "--json"}).text);
    EXPECT_EQ(versions.at("program"), "mastic-train");
    EXPECT_NE(run_program({"--generate", "man"}).text.find(".TH"), std::string::npos);
    EXPECT_NE(run_program({"--generate", "bash-completion"}).text.find("complete"), std::string::npos);
    EXPECT_NE(run_program({"models"}).text.find("resnet18"), std::string::npos);
    EXPECT_NE(run_program({"--print-config", "--train.epochs", "7"}).text.find("epochs = 7  # --train.epochs"),
              std::string::npos);
}

}  // namespace
}  // namespace mastic::test
