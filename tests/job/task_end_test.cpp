#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/task_end.hpp>

namespace mastic::job {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

TEST(TaskEnds, AreThoseOfSrun) {
    // Slurm 22.05, a rank killed by the kernel for memory; the rest follows from it.
    EXPECT_THAT(read_task_ends("11:02:34 info    training data: 64 samples\n"
                               "srun: error: n2: task 1: Killed\n"
                               "srun: launch/slurm: _step_signal: Terminating StepId=1.0\n"
                               "slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-30T11:02:39 ***\n"
                               "srun: error: n1: task 0: Exited with exit code 7\n"
                               "mastic-train: the run failed with code 7; it is not started again\n"),
                ElementsAre(FieldsAre(1, "Killed"), FieldsAre(0, "Exited with exit code 7")));
    EXPECT_THAT(read_task_ends("srun: error: n[1-2]: tasks 0-1,3: Out Of Memory"),
                ElementsAre(FieldsAre(0, "Out Of Memory"), FieldsAre(1, "Out Of Memory"), FieldsAre(3, "Out Of Memory")));
}

TEST(TaskEnds, AreThoseOfTheNewestStart) {
    const std::string first = "srun: error: n2: task 1: Killed\nmastic-train: the run failed with code 7\n";
    const std::string second = "srun: error: n1: task 0: Exited with exit code 5\n";
    EXPECT_THAT(read_task_ends(first + second), ElementsAre(FieldsAre(0, "Exited with exit code 5")));
    EXPECT_THAT(read_task_ends(first + second + "mastic-train: the run failed with code 5\n"),
                ElementsAre(FieldsAre(0, "Exited with exit code 5")));
    EXPECT_THAT(read_task_ends(first + "mastic-train: done\n"), IsEmpty());
}

TEST(Successor, IsTheOneOfTheNewestEnd) {
    const std::string on = "mastic-train: stopped early\nmastic-train: job 13 goes on, with the same log\n";
    EXPECT_EQ(read_successor(on), "13");
    EXPECT_EQ(read_successor(on + "12:00:00 info  step\n"), "13");
    EXPECT_EQ(read_successor(on + "mastic-train: the run is done\n"), "");
    EXPECT_EQ(read_successor(""), "");
}

TEST(TaskEnds, OtherLinesAreNone) {
    EXPECT_THAT(read_task_ends(""), IsEmpty());
    EXPECT_THAT(read_task_ends("srun: error: Unable to allocate resources: Invalid partition name specified\n"
                               "srun: error: n1: task\nsrun: error: n1: tasks 0-x: Killed\nsrun: error: n1: task 1\n"
                               "srun: error: : task 99999999999: Killed"),
                IsEmpty());
}

}  // namespace
}  // namespace mastic::job
