#include <gtest/gtest.h>

#include <mastic/job/batch/patient_runner.hpp>

namespace mastic::job {
namespace {

const CommandResult away{1, "", "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n"};
const CommandResult there{0, "8\n", ""};

// A controller that is away for some answers.
struct Controller {
    int away_for = 0;
    CommandResult then = there;
    int asked = 0;
    int told = 0;
    Seconds slept{0};

    CommandResult call(const std::string& program = "sbatch") {
        const Patience patience{Seconds(600), Seconds(5), [this](Seconds time) { slept += time; }};
        return patient_runner([this](const auto&, Seconds) { return ++asked <= away_for ? away : then; },
                              [this](const std::string&) { ++told; }, patience)({"env", program, "x"}, Seconds(60));
    }
};

TEST(PatientRunner, WaitsForAControllerThatComesBack) {
    Controller controller{3};
    EXPECT_EQ(controller.call().output, "8\n");
    EXPECT_EQ(controller.asked, 4);
    EXPECT_EQ(controller.told, 1);
    EXPECT_EQ(controller.slept, Seconds(15));
}

TEST(PatientRunner, GivesUpAfterItsLimit) {
    Controller controller{1'000'000};
    EXPECT_EQ(controller.call().exit_code, 1);
    EXPECT_EQ(controller.slept, Seconds(600));
}

TEST(PatientRunner, NeverRepeatsWhatMayHaveBeenObeyed) {
    for (const CommandResult& result : {there, CommandResult{1, "", "sbatch: error: Socket timed out on send/recv operation\n"},
                                        CommandResult{1, "", "sbatch: error: Invalid account\n"}, CommandResult{124, "", ""}}) {
        Controller controller{0, result};
        EXPECT_EQ(controller.call().exit_code, result.exit_code);
        EXPECT_EQ(controller.asked, 1);
        EXPECT_EQ(controller.told, 0);
    }
}

TEST(PatientRunner, AsksAgainIfAnAnswerWasLost) {
    const CommandResult lost{1, "", "slurm_load_jobs error: Socket timed out on send/recv operation\n"};
    Controller controller{0, lost};
    EXPECT_EQ(controller.call("scontrol").exit_code, 1);
    EXPECT_EQ(controller.slept, Seconds(600));
}

}  // namespace
}  // namespace mastic::job
