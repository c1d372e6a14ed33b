#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>
#include <mastic/core/error.hpp>
#include <mastic/job/blas_core.hpp>

#include "naive_gemm.hpp"

namespace mastic::job {
namespace {

using testing::HasSubstr;

const std::vector<std::string> programs = {BLAS_RESTART_PROGRAM, BLAS_SWITCH_PROGRAM};

// Starts a program with exactly these of OpenBLAS's and our variables.
CommandResult run_program(const std::string& program, const std::vector<std::string>& variables) {
    std::vector<std::string> argv = {
        "env", "-u", "OPENBLAS_CORETYPE", "-u", "OPENBLAS_L2_SIZE", "-u", "MASTIC_BLAS_CORE"};
    argv.insert(argv.end(), variables.begin(), variables.end());
    argv.insert(argv.end(), {program, "an argument"});
    return run_command(argv, Seconds(60));
}

std::string starts(int count) {
    std::string text;
    for (; count > 0; --count) {
        text += "start\n";
    }
    return text;
}

TEST(EnsureBlasCore, StartsAgainWithTheChosenCoreAndTheSameArguments) {
    const auto result = run_program(BLAS_RESTART_PROGRAM, {});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output,
              starts(2) + "core=SkylakeX proven=1 l2= args=2:an argument\n" +
                  "OpenBLAS core SkylakeX (chosen from AVX512; OpenBLAS itself would take Prescott), "
                  "product proven\n");
}

TEST(EnsureBlasCore, NeedsNoSecondStartIfOpenBlasCanSwitch) {
    const auto result = run_program(BLAS_SWITCH_PROGRAM, {});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output,
              starts(1) + "core=SkylakeX proven=1 l2= args=2:an argument\n" +
                  "OpenBLAS core SkylakeX (chosen from AVX512; OpenBLAS itself would take Prescott), "
                  "product proven\n");
}

TEST(EnsureBlasCore, GoesOnToTheNextCoreAfterACrashAWrongProductAndAnUnknownName) {
    const std::pair<std::string, int> programs_and_starts[] = {{BLAS_RESTART_PROGRAM, 5},
                                                               {BLAS_SWITCH_PROGRAM, 2}};
    for (const auto& [program, count] : programs_and_starts) {
        const auto result =
            run_program(program, {"FAKE_BLAS=SkylakeX=crash,Haswell=wrong,Sandybridge=unknown"});
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(
            result.output,
            starts(count) + "core=Nehalem proven=1 l2= args=2:an argument\n" +
                "OpenBLAS core Nehalem (chosen from SSE4.1; SkylakeX: crashed (signal 4); Haswell: wrong "
                "sgemm "
                "1x1x1 NN; Sandybridge: not in this OpenBLAS; OpenBLAS itself would take Prescott), product "
                "proven\n");
    }
}

TEST(EnsureBlasCore, GivesUpIfEveryCoreIsWrong) {
    for (const auto& program : programs) {
        const auto result = run_program(program, {"FAKE_BLAS=SkylakeX=wrong,Haswell=wrong,Sandybridge=wrong,"
                                                  "Nehalem=wrong,Core2=wrong,Prescott=crash"});
        EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::environment));
        EXPECT_THAT(result.output, HasSubstr("no core of OpenBLAS computes right products"));
        EXPECT_THAT(result.output, HasSubstr("Prescott: crashed (signal 4)"));
    }
}

TEST(EnsureBlasCore, RespectsTheUsersCoreAndNamesTheBetterOne) {
    for (const auto& program : programs) {
        const auto result = run_program(program, {"OPENBLAS_CORETYPE=Haswell"});
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_THAT(result.output,
                    HasSubstr("OpenBLAS core Haswell (OPENBLAS_CORETYPE set by you; SkylakeX would be "
                              "chosen from AVX512), product proven"));
    }
}

TEST(EnsureBlasCore, SaysIfTheUsersCoreIsUnknown) {
    const auto result =
        run_program(BLAS_SWITCH_PROGRAM, {"OPENBLAS_CORETYPE=Bogus", "FAKE_BLAS=Bogus=unknown"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output,
                HasSubstr("OpenBLAS core Prescott (OPENBLAS_CORETYPE set by you to Bogus, which it does "
                          "not know), product proven"));
}

TEST(EnsureBlasCore, RefusesAUsersCoreThatIsWrong) {
    for (const auto& program : programs) {
        const auto result = run_program(program, {"OPENBLAS_CORETYPE=Haswell", "FAKE_BLAS=Haswell=wrong"});
        EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::environment));
        EXPECT_THAT(result.output, HasSubstr("core Haswell (OPENBLAS_CORETYPE set by you): wrong sgemm"));
        EXPECT_THAT(result.output, HasSubstr("unset OPENBLAS_CORETYPE"));
    }
}

TEST(EnsureBlasCore, GivesTheCacheSizeWhereTheCpuReportsNone) {
    for (const auto& program : programs) {
        EXPECT_THAT(run_program(program, {"FAKE_L2=0"}).output, HasSubstr("core=SkylakeX proven=1 l2=2048"));
        EXPECT_THAT(run_program(program, {"FAKE_L2=0", "OPENBLAS_L2_SIZE=512"}).output, HasSubstr("l2=512"));
    }
}

TEST(EnsureBlasCore, ChoosesAnewUnderAMasticThatRanOnAnotherCpu) {
    for (const auto& program : programs) {
        const auto result = run_program(program, {"OPENBLAS_CORETYPE=Zen", "MASTIC_BLAS_CORE=Zen"});
        EXPECT_THAT(result.output, HasSubstr("core=SkylakeX proven=1"));
    }
}

TEST(EnsureBlasCore, LeavesOtherLibrariesAlone) {
    char name[] = "program";
    char* argv[] = {name, nullptr};
    const auto none = ensure_blas_core(argv, detect_cpu(), {});
    EXPECT_FALSE(none.openblas);
    EXPECT_EQ(none.text, "no BLAS is loaded");

    BlasLibrary mkl;
    mkl.sgemm = test::naive_gemm<float>;
    mkl.dgemm = test::naive_gemm<double>;
    mkl.file = "/opt/libmkl_rt.so";
    const auto other = ensure_blas_core(argv, detect_cpu(), mkl);
    EXPECT_FALSE(other.openblas);
    EXPECT_EQ(other.text, "BLAS /opt/libmkl_rt.so is not OpenBLAS: left as it is");
}

}  // namespace
}  // namespace mastic::job
