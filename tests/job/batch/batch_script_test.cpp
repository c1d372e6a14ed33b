#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>
#include <mastic/job/batch/batch_script.hpp>
#include <mastic/job/batch/shell_words.hpp>

#include "support/temp_dir.hpp"

namespace mastic::job {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct Shipped {
    const char* file;
    BatchWork work;
};
constexpr Shipped shipped[] = {{"train.sbatch", BatchWork::train},
                               {"train-array.sbatch", BatchWork::sweep},
                               {"tune.sbatch", BatchWork::tune},
                               {"pilot.sbatch", BatchWork::pilot},
                               {"mps.sbatch", BatchWork::mps},
                               {"rescale.sbatch", BatchWork::manage}};

BatchRequest detected_request(BatchWork work) {
    BatchRequest request;
    request.work = work;
    request.options.nodes = 2;
    request.options.ranks_per_node = 4;
    request.options.cpus_per_rank = 8;
    request.options.gpus_per_node = 2;
    request.options.exclusive = false;
    request.options.time = Seconds{90};
    request.options.partition = "gpu";
    request.options.account = "abc";
    request.options.mpi = "pmi2";
    request.options.extra = {"--constraint=icelake&ib", "--mail-type=END,FAIL"};
    request.arguments = {"my config.toml", "--run.dir", "it's here"};
    request.program_directory = "/opt/my tools/bin";
    request.working_directory = "/home/me/x";
    request.notes = {"partitions: gpu (8 nodes)"};
    return request;
}

// What the tool says about the script; empty if it has nothing to say.
std::string complaints(const std::vector<std::string>& tool, const std::string& script) {
    const test::TempDir directory;
    std::vector<std::string> command = tool;
    command.push_back(directory.write("job.sbatch", script).string());
    const CommandResult result = run_command(command, Seconds(30));
    return result.exit_code == 0 ? ""
                                 : std::to_string(result.exit_code) + ": " + result.output + result.error;
}

TEST(BatchScript, OfAWatchedPilotLeavesItsCodeAndDoesNotComeAgain) {
    const test::TempDir directory;
    BatchRequest request = detected_request(BatchWork::pilot);
    request.code_file_prefix = (directory / "it's-").string();
    const std::string script = batch_script(request);
    EXPECT_THAT(script, Not(HasSubstr("settle")));
    EXPECT_THAT(script, HasSubstr("#SBATCH --no-requeue\n"));
    EXPECT_EQ(complaints({"bash", "-n"}, script), "");

    // Where srun is a program that ends with code 8.
    const auto srun = directory.write("srun", "#!/bin/sh\nexit 8\n");
    std::filesystem::permissions(srun, std::filesystem::perms::owner_all);
    const std::string path = directory.path().string() + ":" + std::getenv("PATH");
    const CommandResult result = run_command({"env", "PATH=" + path, "SLURM_JOB_ID=17", "SLURM_CPUS_PER_TASK=1", "bash",
                                              directory.write("job.sbatch", script).string()},
                                             Seconds(30));
    EXPECT_EQ(result.exit_code, 8) << result.error;
    EXPECT_EQ(read_text_file(directory / "it's-17.code"), "8\n");
}

TEST(BatchScript, OfEachWorkIsTheOneInTheRepository) {
    for (const auto& [file, work] : shipped) {
        const std::filesystem::path path = std::filesystem::path(MASTIC_SLURM_SCRIPTS) / file;
        const std::string text = batch_script(general_batch_request(work));
        if (std::getenv("MASTIC_WRITE_SCRIPTS") != nullptr) {
            write_file_atomically(path, text, 0755);
        }
        EXPECT_EQ(read_text_file(path), text)
            << path << ": MASTIC_WRITE_SCRIPTS=1 with this test writes it anew";
    }
}

TEST(BatchScript, IsCleanForBashAndShellCheck) {
    for (const auto& [file, work] : shipped) {
        for (const BatchRequest& request : {general_batch_request(work), detected_request(work)}) {
            const std::string script = batch_script(request);
            EXPECT_EQ(complaints({"bash", "-n"}, script), "") << script;
            EXPECT_EQ(complaints({"shellcheck", "--shell=bash"}, script), "") << script;
        }
    }
}

TEST(BatchScript, OfRanksThatShareAGpuIsCleanUnderSrunToo) {
    for (const BatchWork work : {BatchWork::mps, BatchWork::share}) {
        for (const bool starts_ranks : {false, true}) {
            BatchRequest request = detected_request(work);
            request.sharing = {{"--memory-limit", "2 GiB"}, starts_ranks, "/opt/it's/mine"};
            const std::string script = batch_script(request);
            EXPECT_EQ(complaints({"shellcheck", "--shell=bash"}, script), "") << script;
            EXPECT_THAT(script, Not(ContainsRegex("@[A-Z]+@")));
        }
    }
}

TEST(BatchScript, HasALineForWhatIsAsked) {
    const std::string script = batch_script(detected_request(BatchWork::train));
    for (const char* line :
         {"#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=4\n", "#SBATCH --cpus-per-task=8\n",
          "#SBATCH --gpus-per-node=2\n", "#SBATCH --time=0:02:00\n", "#SBATCH --partition=gpu\n",
          "#SBATCH --account=abc\n", "#SBATCH --chdir=/home/me/x\n", "#SBATCH --constraint=icelake&ib\n",
          "#SBATCH --mail-type=END,FAIL\n", "#SBATCH --open-mode=append\n", "#SBATCH --requeue\n",
          "# partitions: gpu (8 nodes)\n", "\nmpi=pmi2\n"}) {
        EXPECT_THAT(script, HasSubstr(line));
    }
    EXPECT_THAT(script, Not(HasSubstr("--exclusive")));
    EXPECT_THAT(script, Not(ContainsRegex("@[A-Z]+@")));
}

TEST(BatchScript, HasNoLineForWhatIsNotAsked) {
    BatchRequest request = general_batch_request(BatchWork::train);
    request.options.time = Seconds{0};
    const std::string script = batch_script(request);
    for (const char* word : {"--time", "cpus-per-task", "gpus", "--chdir", "CPUS_PER_TASK"}) {
        EXPECT_THAT(script, Not(HasSubstr(word)));
    }
    EXPECT_THAT(script, HasSubstr("\n##SBATCH --partition=NAME\n"));
}

// Runs the script with programs that write down what they were given.
TEST(BatchScript, GivesTheProgramItsOwnArgumentsAndThoseOfSbatch) {
    const test::TempDir directory;
    const auto tell = [&](const std::string& name, const std::string& body) {
        const auto path = directory.write("bin/" + name, "#!/bin/sh\n" + body);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    };
    tell("srun", "printf '[%s]' srun \"$@\"; echo; exit 3");
    tell("mastic-train", "printf '[%s]' settle \"$@\"; echo; exit 5");
    BatchRequest request = detected_request(BatchWork::train);
    request.program_directory = (directory / "bin").string();
    const auto script = directory.write("job.sbatch", batch_script(request));
    const CommandResult result = run_command(
        {"env", "SLURM_CPUS_PER_TASK=8", "bash", script.string(), "--train.epochs", "2 3"}, Seconds(30));
    EXPECT_EQ(result.exit_code, 5) << result.error;
    EXPECT_THAT(result.output,
                HasSubstr("[srun][--mpi=pmi2][--export=ALL][--kill-on-bad-exit=1][--wait=120][mastic-train][my config.toml]"
                          "[--run.dir][it's here][--train.epochs][2 3]\n"));
    EXPECT_THAT(result.output,
                HasSubstr("[settle][settle][my config.toml][--run.dir][it's here][--train.epochs]"
                          "[2 3][3]["));
    EXPECT_THAT(result.output, HasSubstr("][none][--][" + script.string() + "][--train.epochs][2 3]\n"));
}

TEST(BatchScript, OfASweepTakesTheTasksLine) {
    const test::TempDir directory;
    for (const char* name : {"srun", "mastic-train"}) {
        const auto path =
            directory.write(std::string("bin/") + name, "#!/bin/sh\nprintf '[%s]' \"$@\"; echo\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    const auto sweep = directory.write("sweeps/rates.txt", "--a 1\n--b 2 --c 3\n\n");
    BatchRequest request = detected_request(BatchWork::sweep);
    request.arguments.clear();
    request.program_directory = (directory / "bin").string();
    const auto script = directory.write("job.sbatch", batch_script(request));
    const auto run = [&](const std::string& task) {
        return run_command({"env", "SLURM_CPUS_PER_TASK=8", "SLURM_ARRAY_TASK_ID=" + task, "bash",
                            script.string(), sweep.string(), "c.toml", "--x", "y"},
                           Seconds(30));
    };
    EXPECT_THAT(run("2").output, HasSubstr("[c.toml][--x][y][--b][2][--c][3][--run.dir][runs/rates/2]\n"));
    for (const char* task : {"3", "4"}) {
        const CommandResult missing = run(task);
        EXPECT_EQ(missing.exit_code, 2);
        EXPECT_THAT(missing.error, HasSubstr("no line " + std::string(task)));
    }
}

// The last task of an array has the array's id, so scontrol tells of all its tasks; and a path may have blanks.
TEST(BatchScript, FindsTheRepositoryItBelongsTo) {
    const test::TempDir directory;
    const std::string repository = directory / "my slurm/re po";
    const auto program = [&](const std::string& path, const std::string& body) {
        const auto file = directory.write(path, "#!/bin/sh\n" + body);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    };
    program("my slurm/re po/build/release/bin/mastic-train", "echo found \"$1\"");
    program("bin/srun", "");
    program("bin/scontrol", "for i in 1 2 3; do printf 'JobId=%s\\n   Command=" + repository +
                                "/slurm/train.sbatch a /x/slurm/b\\n\\n' $i; done");
    const auto script = directory.write("job.sbatch", batch_script(general_batch_request(BatchWork::train)));
    const std::string path = "PATH=" + (directory / "bin").string() + ":/usr/bin:/bin";
    const std::vector<std::string> command = {"env", path, "SLURM_JOB_ID=1", "SLURM_SUBMIT_DIR=/nowhere", "bash", script.string()};
    const CommandResult result = run_command(command, Seconds(30));
    EXPECT_THAT(result.output, HasSubstr("found settle")) << result.error;
    program("bin/scontrol", "echo 'slurm_load_jobs error' >&2; exit 1");
    std::vector<std::string> elsewhere = command;
    elsewhere[3] = "SLURM_SUBMIT_DIR=" + repository;
    EXPECT_THAT(run_command(elsewhere, Seconds(30)).output, HasSubstr("found settle"));
}

TEST(BatchScript, OfAPilotJoinsItsFirstArgument) {
    const test::TempDir directory;
    for (const char* name : {"srun", "mastic-train"}) {
        const auto path =
            directory.write(std::string("bin/") + name, "#!/bin/sh\nprintf '[%s]' \"$@\"; echo\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    BatchRequest request = general_batch_request(BatchWork::pilot);
    request.program_directory = (directory / "bin").string();
    const auto script = directory.write("job.sbatch", batch_script(request));
    const CommandResult result = run_command({"bash", script.string(), "my run", "c.toml", "--x", "y"}, Seconds(30));
    EXPECT_THAT(result.output, HasSubstr("[--mpi=none][--export=ALL][--kill-on-bad-exit=1][--wait=120][mastic-train]"
                                         "[c.toml][--x][y][--elastic.join][my run]\n"));
    EXPECT_THAT(result.output, HasSubstr("[settle][c.toml][--x][y][--elastic.join][my run][0]["));
    EXPECT_THAT(result.output, HasSubstr("][none][--][" + script.string() + "][my run][c.toml][--x][y]\n"));
    EXPECT_NE(run_command({"bash", script.string()}, Seconds(30)).exit_code, 0) << "no run directory";
}

TEST(BatchScript, OfMpsLeavesSrunToMasticMps) {
    const std::string script = batch_script(general_batch_request(BatchWork::mps));
    EXPECT_THAT(script, HasSubstr("#SBATCH --gpus-per-node=1\n"));
    EXPECT_THAT(script, HasSubstr("\nmastic-mps --ranks-per-gpu auto --srun-mpi \"$mpi\" -- mastic-train "
                                  "\"${run[@]}\" &\nranks=$!\n"));
    EXPECT_THAT(script, Not(HasSubstr("\nsrun")));
}

// Its job comes again after code 75, but not if somebody has cancelled it.
TEST(BatchScript, OfAManagerRequeuesItself) {
    const test::TempDir directory;
    const auto program = [&](const std::string& name, const std::string& body) {
        const auto path = directory.write("bin/" + name, "#!/bin/sh\n" + body);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    };
    program("srun", "printf '[%s]' srun \"$@\"; echo; exit $CODE");
    program("squeue", "echo $STATE");
    program("scontrol", "printf '[%s]' scontrol \"$@\"; echo");
    program("mastic-rescale", "");
    const auto script = directory.write("job.sbatch", batch_script(general_batch_request(BatchWork::manage)));
    const std::string path = "PATH=" + (directory / "bin").string() + ":/usr/bin:/bin";
    const auto run = [&](const std::string& code, const std::string& state) {
        return run_command({"env", path, "CODE=" + code, "STATE=" + state, "SLURM_JOB_ID=17", "SLURM_CPUS_PER_TASK=1",
                            "bash", script.string(), "my state", "--config", "site.toml"},
                           Seconds(30));
    };
    const std::string served = "[srun][--ntasks=1][--export=ALL][mastic-rescale][serve][my state][--config][site.toml]\n";
    EXPECT_EQ(run("75", "RUNNING").output, served + "[scontrol][requeue][17]\n");
    EXPECT_EQ(run("75", "RUNNING").exit_code, 75);
    EXPECT_EQ(run("75", "COMPLETING").output, served);
    EXPECT_EQ(run("5", "RUNNING").output, served);
    EXPECT_EQ(run("5", "RUNNING").exit_code, 5);
    EXPECT_EQ(run("0", "RUNNING").exit_code, 0);
}

// The shell forwards a signal at once, and keeps the code that srun ends with.
TEST(BatchScript, ForwardsSignals) {
    const test::TempDir directory;
    const auto tell = [&](const std::string& name, const std::string& body) {
        const auto path = directory.write("bin/" + name, "#!/bin/bash\n" + body);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    };
    // Ends only when it has got all three.
    tell("srun",
         "trap 'got+=u' USR1; trap 'got+=v' USR2; trap 'got+=t' TERM; : >ready\n"
         "for i in {1..200}; do [ ${#got} -lt 3 ] || exit 75; sleep 0.05; done; exit 1\n");
    tell("mastic-train", "echo \"code $2\"; exit 0\n");
    BatchRequest request = detected_request(BatchWork::train);
    request.arguments.clear();
    request.program_directory = (directory / "bin").string();
    const auto script = directory.write("job.sbatch", batch_script(request));
    const std::string driver =
        "cd " + shell_word(directory.path().string()) +
        "; SLURM_CPUS_PER_TASK=8 bash job.sbatch & script=$!; "
        "for i in {1..200}; do [ ! -e ready ] || break; sleep 0.05; done; "
        "for s in USR1 USR2 TERM; do kill -s $s $script; sleep 0.2; done; wait $script";
    const CommandResult result = run_command({"bash", "-c", driver}, Seconds(60));
    EXPECT_EQ(result.output, "code 75\n") << result.error;
}

TEST(ShellWords, AreReadBackByAShell) {
    const std::vector<std::string> words = {"plain", "",  "two words", "it's", "$HOME `x` \"q\" \\",
                                            "*",     "~", "a\nb"};
    const CommandResult result =
        run_command({"bash", "-c", "printf '%s|' " + shell_text(words)}, Seconds(10));
    EXPECT_EQ(result.output, "plain||two words|it's|$HOME `x` \"q\" \\|*|~|a\nb|");
}

}  // namespace
}  // namespace mastic::job
