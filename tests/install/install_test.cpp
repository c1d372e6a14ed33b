#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <mastic/core/command.hpp>

#include "support/temp_dir.hpp"

namespace mastic {
namespace {

using testing::HasSubstr;

std::string run(const std::vector<std::string>& command) {
    const CommandResult result = run_command(command, Seconds(250));
    EXPECT_EQ(result.exit_code, 0) << command.front() << ": " << result.output << result.error;
    return result.output;
}

TEST(Install, AnotherProjectFindsThePackageAndRunsOnIt) {
    const test::TempDir dir;
    const std::string prefix = dir.path() / "prefix";
    const std::string build = dir.path() / "build";
    for (const char* component : {"comm", "elastic_app"}) {
        run({CMAKE, "--install", MASTIC_BUILD, "--component", component, "--prefix", prefix});
    }
    run({CMAKE, "-G", "Ninja", "-S", MASTIC_EXAMPLE, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release"});
    run({CMAKE, "--build", build});
    EXPECT_THAT(run({MPIEXEC, "-n", "2", build + "/average"}), HasSubstr("average 0.50"));
    // The same binary on ranks of MPI, and as a member of an elastic run.
    const std::string app = build + "/regression";
    EXPECT_THAT(run({MPIEXEC, "-n", "2", app, "--run.dir", dir / "fixed", "--fit.steps", "20"}), HasSubstr("of 20000 right"));
    EXPECT_THAT(run({app, "--elastic.join", dir / "elastic", "--fit.steps", "20"}), HasSubstr("of 20000 right"));
}

// What scripts/install installs, at a place other than the one it was installed to.
TEST(Install, AModuleFileBringsTheProgramsIntoThePath) {
    const std::string lmod = "/usr/share/lmod/lmod/init/bash";
    if (!std::filesystem::exists(lmod)) {
        GTEST_SKIP() << "no Lmod here (scripts/packages test)";
    }
    const test::TempDir dir;
    run({CMAKE, "--install", MASTIC_BUILD, "--prefix", dir / "first"});
    std::filesystem::rename(dir / "first", dir / "moved");
    const std::string prefix = dir / "moved";
    const std::string said = run({"bash", "-c",
                                  "source " + lmod + "; module use " + prefix +
                                      "/share/modulefiles; module load mastic; command -v mastic-tune; "
                                      "man -w mastic-tune; mastic-tune --version; ls $MASTIC_HOME/share/mastic/slurm"});
    EXPECT_THAT(said, HasSubstr(prefix + "/bin/mastic-tune\n"));
    EXPECT_THAT(said, HasSubstr(prefix + "/share/man/man1/mastic-tune.1"));
    EXPECT_THAT(said, HasSubstr("mastic-tune 0."));
    EXPECT_THAT(said, HasSubstr("train.sbatch"));
}

}  // namespace
}  // namespace mastic
