// The real mastic-tune under the real mpiexec.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/comm/cuda/device.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>
#include <mastic/tuning/table.hpp>

#include "support/temp_dir.hpp"

namespace mastic::tuning {
namespace {

using testing::HasSubstr;
using Arguments = std::vector<std::string>;

struct ProgramResult {
    int exit_code = 0;
    std::string text;  // standard output and error
};

ProgramResult start(Arguments argv, const Arguments& arguments) {
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const CommandResult result = mastic::run_command(argv, Seconds{90});
    EXPECT_NE(result.exit_code, 124) << "still running:\n" << result.error;
    return {result.exit_code, result.output + result.error};
}
ProgramResult tune(const Arguments& arguments) {
    return start({MASTIC_TUNE}, arguments);
}
ProgramResult tune_on(int ranks, const Arguments& arguments) {
    return start({MPIEXEC, "-n", std::to_string(ranks), MASTIC_TUNE}, arguments);
}
// Odd and even ranks as if on two nodes.
ProgramResult tune_on_two_nodes(int ranks, const Arguments& arguments) {
    return start({"env", "MPIR_CVAR_ODD_EVEN_CLIQUES=1", MPIEXEC, "-n", std::to_string(ranks), MASTIC_TUNE},
                 arguments);
}

Arguments small_run(const std::filesystem::path& output, const Arguments& more = {}) {
    Arguments arguments = {"run",
                           "--tune.output",
                           output.string(),
                           "--budget",
                           "20s",
                           "--tune.largest",
                           "4K",
                           "--tune.repetitions",
                           "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

// One table for all tests that read one.
class Tuned : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        dir_ = new test::TempDir;
        run_ = tune_on(2, small_run(table()));
    }
    static void TearDownTestSuite() { delete dir_; }
    static std::filesystem::path table() { return *dir_ / "tuning.json"; }

    static test::TempDir* dir_;
    static ProgramResult run_;
};
test::TempDir* Tuned::dir_ = nullptr;
ProgramResult Tuned::run_;

TEST_F(Tuned, TheRunWroteRowsForEveryCollective) {
    ASSERT_EQ(run_.exit_code, 0) << run_.text;
    const TuningTable written = TuningTable::load(table());
    ASSERT_EQ(written.shapes.size(), 1u);
    EXPECT_EQ(written.shapes[0].shape, (GroupShape{1, 2}));
    EXPECT_EQ(written.shapes[0].collectives.size(), 4u);
    EXPECT_FALSE(written.links.empty());
    EXPECT_THAT(written.machine.mpi, HasSubstr("MPICH"));
    EXPECT_NO_THROW(written.require_machine(this_machine(written.machine.mpi)));
    EXPECT_NE(written.selection_for({1, 2}).selection, nullptr);
}

TEST(DeviceMemory, IsMeasuredOrRefusedWithOneClearError) {
    const test::TempDir dir;
    const ProgramResult run = tune_on(2, small_run(dir / "tuning.json", {"--tune.memory", "device"}));
    if (comm::cuda_devices() > 0) {
        EXPECT_EQ(run.exit_code, 0) << run.text;
        EXPECT_THAT(read_text_file(dir / "tuning.json"), HasSubstr("\"memory\": \"device\""));
    } else {
        EXPECT_EQ(run.exit_code, 4) << run.text;
        EXPECT_THAT(run.text, HasSubstr("hint: "));
        EXPECT_TRUE(dir.names().empty());
    }
}

TEST_F(Tuned, ShowAndReportNeedNoRanks) {
    const ProgramResult shown = tune({"show", table().string()});
    EXPECT_EQ(shown.exit_code, 0) << shown.text;
    EXPECT_THAT(shown.text, HasSubstr("1 node x 2 ranks, allreduce"));
    const ProgramResult reported = tune({"report", table().string()});
    EXPECT_EQ(reported.exit_code, 0) << reported.text;
    EXPECT_THAT(read_text_file(*dir_ / "tuning.html"), HasSubstr("<svg"));
}

// Times of a test prove nothing: what is looked at is that it ran to its end and told the ratios.
TEST_F(Tuned, VerifyTellsRatiosAtHeldOutSizes) {
    const ProgramResult result =
        tune_on(2, {"verify", table().string(), "--tune.repetitions", "3", "--budget", "20s"});
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.exit_code << result.text;
    EXPECT_THAT(result.text, HasSubstr("rows of 1 node x 2 ranks"));
    EXPECT_THAT(result.text, HasSubstr("choices hold"));
    EXPECT_THAT(result.text, HasSubstr("128"));
}

TEST_F(Tuned, VerifyRefusesATableOfOtherHardware) {
    TuningTable other = TuningTable::load(table());
    other.machine.cpu = "another CPU";
    other.save(*dir_ / "other.json");
    const ProgramResult result = tune_on(2, {"verify", (*dir_ / "other.json").string()});
    EXPECT_EQ(result.exit_code, 4) << result.text;
    EXPECT_THAT(result.text, HasSubstr("another CPU there"));
}

TEST(Run, OnTwoNodesMeasuresAllShapes) {
    const test::TempDir dir;
    const ProgramResult result = tune_on_two_nodes(
        4, small_run(dir / "t.json",
                     {"--tune.collectives", "allreduce", "--tune.largest", "64", "--tune.wire", "bfloat16"}));
    ASSERT_EQ(result.exit_code, 0) << result.text;
    const TuningTable table = TuningTable::load(dir / "t.json");
    ASSERT_EQ(table.shapes.size(), 3u);
    EXPECT_EQ(table.shapes[0].shape, (GroupShape{2, 2}));
    EXPECT_EQ(table.shapes[1].shape, (GroupShape{2, 1}));
    EXPECT_EQ(table.shapes[2].shape, (GroupShape{1, 2}));
    for (const ShapeResult& shape : table.shapes) {
        EXPECT_NE(shape.find(comm::Collective::allreduce, comm::Wire::bfloat16), nullptr);
    }
}

TEST(Run, DryRunWritesNothing) {
    const test::TempDir dir;
    const ProgramResult result = tune_on(2, small_run(dir / "t.json", {"--dry-run"}));
    EXPECT_EQ(result.exit_code, 0) << result.text;
    EXPECT_THAT(result.text, HasSubstr("nothing was measured"));
    EXPECT_TRUE(dir.names().empty());
}

TEST(Run, NeedsSeveralRanksAndAPlaceToWrite) {
    EXPECT_EQ(tune_on(1, {"run"}).exit_code, 2);
    const ProgramResult result = tune_on(2, small_run("/nowhere/t.json"));
    EXPECT_EQ(result.exit_code, 5) << result.text;
    EXPECT_THAT(result.text, HasSubstr("/nowhere"));
}

// The file makes MPICH start and sum rightly; the proof that it is read is the program's own.
TEST(Export, WritesASelectionFileThatMpichReads) {
    const test::TempDir dir;
    const std::string file = (dir / "mpich.json").string();
    const ProgramResult result =
        tune_on(2, {"export", file, "--tune.largest", "1K", "--tune.repetitions", "3", "--budget", "10s"});
    ASSERT_EQ(result.exit_code, 0) << result.text;
    EXPECT_THAT(result.text, HasSubstr("proved"));
    EXPECT_EQ(dir.names(), std::vector<std::string>{"mpich.json"});
    const Arguments with_file = {
        "env", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + file, MPIEXEC, "-n", "2", MASTIC_TUNE};
    Arguments native = small_run(dir / "t.json", {"--tune.transports", "native", "--tune.largest", "1K"});
    const ProgramResult tuned = start(with_file, native);
    EXPECT_EQ(tuned.exit_code, 0) << tuned.text;
}

TEST(Export, WritesLinesForABatchScript) {
    const ProgramResult result = tune_on(2, {"export", "--format", "mpich-env", "--tune.largest", "256",
                                             "--tune.repetitions", "3", "--budget", "10s"});
    EXPECT_EQ(result.exit_code, 0) << result.text;
    EXPECT_THAT(result.text, HasSubstr("export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM="));
}

TEST(Tables, ThatAreDamagedOrMissingAreSaid) {
    const test::TempDir dir;
    const std::string damaged = dir.write("bad.json", "{\"format\": 7}").string();
    for (const char* command : {"show", "report"}) {
        const ProgramResult result = tune({command, damaged});
        EXPECT_EQ(result.exit_code, 3) << result.text;
        EXPECT_THAT(result.text, HasSubstr("bad.json: format is 7"));
        EXPECT_EQ(tune({command, (dir / "none.json").string()}).exit_code, 5);
    }
}

TEST(Information, IsPrintedWithoutMeasuring) {
    EXPECT_THAT(tune({"--help"}).text, HasSubstr("verify"));
    EXPECT_THAT(tune({"--version"}).text, HasSubstr("MPICH"));
    EXPECT_EQ(nlohmann::json::parse(tune({"--version", "--json"}).text).at("program"), "mastic-tune");
    EXPECT_THAT(tune({"--generate", "man"}).text, HasSubstr(".TH"));
    EXPECT_THAT(tune({"--generate", "bash-completion"}).text, HasSubstr("complete"));
    EXPECT_THAT(tune({"run", "--print-config", "--tune.budget", "5m"}).text,
                HasSubstr("budget = \"5m\"  # --tune.budget"));
    const ProgramResult nothing = tune({});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_THAT(nothing.text, HasSubstr("which command?"));
    EXPECT_EQ(tune({"rum"}).exit_code, 2);
}

}  // namespace
}  // namespace mastic::tuning
