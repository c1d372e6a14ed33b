// mastic-train with a table that mastic-tune has just measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>
#include <mastic/tuning/table.hpp>

#include "engine/train_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

TEST(Tuning, TheTrainerTakesTheTableOfItsMachineAndNoOther) {
    const TempDir dir;
    const std::string file = dir / "tuning.json";
    const CommandResult tuned = run_command({MPIEXEC, "-n", "2", MASTIC_TUNE, "run", "--tune.output", file, "--budget",
                                             "20s", "--tune.largest", "4K", "--tune.repetitions", "3"},
                                            Seconds(90));
    ASSERT_EQ(tuned.exit_code, 0) << tuned.output << tuned.error;

    const ProgramResult with_table = run_ranks(2, small_task(dir / "run", {"--allreduce.tuning", file}));
    EXPECT_EQ(with_table.exit_code, 0) << with_table.text;
    EXPECT_THAT(with_table.text, HasSubstr("tuning.json: "));

    tuning::TuningTable table = tuning::TuningTable::load(file);
    table.machine.cpu = "Another CPU";
    table.save(file);
    const ProgramResult other = run_ranks(2, small_task(dir / "other", {"--allreduce.tuning", file}));
    EXPECT_EQ(other.exit_code, 4) << other.text;
    EXPECT_THAT(other.text, HasSubstr("Another CPU"));
}

TEST(Tuning, ATableThatIsNoneIsRefused) {
    const TempDir dir;
    const std::string file = dir.write("tuning.json", "{\"format\": 99}");
    EXPECT_EQ(run_ranks(2, small_task(dir / "run", {"--allreduce.tuning", file})).exit_code, 3);
    EXPECT_EQ(run_ranks(2, small_task(dir / "run", {"--allreduce.tuning", dir / "none.json"})).exit_code, 5);
}

}  // namespace
}  // namespace mastic::test
