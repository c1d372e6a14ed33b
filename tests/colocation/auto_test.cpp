// mastic-mps auto with a program whose throughput is known: a script that writes metrics.jsonl.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/core/file.hpp>

#include "colocation/fake_node.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

// Rank 0 writes what a run with so many ranks would; each start is a line in `starts`.
constexpr auto program = R"(#!/bin/bash
rate=(0 100 180 50 182 50 50 50 90)
for word in "$@"; do case $word in --run.dir=*) dir=${word#*=} ;; esac; done
[ "$PMI_RANK" = 0 ] || exit 0
echo "$PMI_SIZE $CUDA_VISIBLE_DEVICES" >>STARTS
[ -n "$dir" ] || exit 7
for i in {1..9}; do
  printf '{"schema":1,"type":"step","step":%d,"samples":%d,"time_s":%d}\n' $i $((i * ${rate[$PMI_SIZE]:-50})) $i
done >"$dir/metrics.jsonl"
)";

class Auto : public testing::Test {
  protected:
    Auto() {
        std::string text = program;
        text.replace(text.find("STARTS"), 6, (node.directory() / "starts").string());
        script = node.directory().write("program", text).string();
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    }
    CommandResult call(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--trial-directory", node.directory().path().string(), "--mpiexec",
                                           MPIEXEC, "--", script, "--run.dir", "runs/real"});
        return node.mps(arguments);
    }
    std::vector<std::string> starts() const {
        std::istringstream lines(std::filesystem::exists(node.directory() / "starts")
                                     ? read_text_file(node.directory() / "starts")
                                     : "");
        std::vector<std::string> all;
        for (std::string line; std::getline(lines, line);) {
            all.push_back(line);
        }
        return all;
    }
    FakeNode node{"gpu GPU-aaaa 00000000:3B:00.0 81920 0 0 A100\n"};
    std::string script;
};

TEST_F(Auto, TriesUntilItNoLongerPaysAndRemembers) {
    const CommandResult first = call({"auto", "--json"});
    ASSERT_EQ(first.exit_code, 0) << first.error;
    const auto found = nlohmann::json::parse(first.output);
    EXPECT_EQ(found.at("ranks_per_gpu"), 4);
    ASSERT_EQ(found.at("trials").size(), 3u);
    EXPECT_NEAR(found.at("trials")[1].at("samples_per_s").get<double>(), 180, 1e-6);
    EXPECT_THAT(found.at("end").get<std::string>(), HasSubstr("4 ranks gain 1.1 %"));
    EXPECT_THAT(starts(), testing::ElementsAre("1 GPU-aaaa", "2 GPU-aaaa", "4 GPU-aaaa"));
    const CommandResult second = call({"auto"});
    EXPECT_THAT(second.output, HasSubstr("ranks_per_gpu=4\n"));
    EXPECT_THAT(second.error, HasSubstr("as found before"));
    EXPECT_EQ(starts().size(), 3u);
    call({"auto", "--again", "--largest", "2"});
    EXPECT_EQ(starts().size(), 5u);
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
    EXPECT_THAT(node.directory().names(),
                testing::UnorderedElementsAre("cache", "gpus", "journal", "program", "s", "starts"));
}

TEST_F(Auto, StartsTheProgramWithWhatItFound) {
    const CommandResult result = call({"--ranks-per-gpu", "auto", "--largest", "2"});
    EXPECT_EQ(result.exit_code, 7) << "the program's own, without a trial's arguments" << result.error;
    EXPECT_THAT(starts(), testing::ElementsAre("1 GPU-aaaa", "2 GPU-aaaa", "2 GPU-aaaa"));
    EXPECT_TRUE(eventually([&] { return node.all_gone(); }));
}

TEST_F(Auto, CountsOnlyItsOwnMemory) {
    node.set("FAKE_NVML_USED", "50000");  // all of the time, so nothing is the trial's own
    EXPECT_THAT(call({"auto"}).output, HasSubstr("ranks_per_gpu=4\n"));
}

TEST_F(Auto, SharesCoresToo) {
    node.set("MASTIC_MPS_NVML", "/nowhere");
    const CommandResult result = call({"auto", "--device", "cpu", "--cores-per-device", "1", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(nlohmann::json::parse(result.output).at("trials").size(), 1u) << "a rank needs a core";
}

TEST_F(Auto, SaysWhatItWouldTry) {
    const CommandResult result = call({"auto", "--dry-run", "--largest", "2"});
    EXPECT_THAT(result.output, HasSubstr("--ranks-per-gpu=2"));
    EXPECT_THAT(result.output, HasSubstr("--train.max_steps=60"));
    EXPECT_TRUE(starts().empty());
}

TEST_F(Auto, RefusesToRunInsideOfAJobStep) {
    node.set("PMI_RANK", "0");
    node.set("PMI_SIZE", "2");
    const CommandResult result = call({"--ranks-per-gpu", "auto"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("auto starts srun or mpiexec itself"));
}

TEST_F(Auto, TellsWhyTheFirstTrialFailed) {
    script = "false";
    const CommandResult result = call({"auto"});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_THAT(result.error, HasSubstr("the trial with 1 rank on each device failed: ended with code 1"));
}

// Without Slurm: what it would be told is in the script.
class BatchScript : public Auto {
  protected:
    std::string print(std::vector<std::string> arguments, const std::string& name) const {
        const std::string path = node.directory().write(name, "#!/bin/sh\n[ \"$1\" = --print-mpi ] && echo pmix\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        arguments.insert(arguments.end(), {"--print-sbatch", "--", path, "my config"});
        const CommandResult result = node.mps(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.error;
        return result.output;
    }
};

TEST_F(BatchScript, OfATrainingGoesOnInFurtherJobs) {
    const std::string text = print({"--ranks-per-gpu", "auto"}, "mastic-train");
    EXPECT_THAT(text, HasSubstr("\nrun=('my config' \"$@\")\n"));
    EXPECT_THAT(text, HasSubstr("\nmpi=pmix\nmastic-mps --ranks-per-gpu auto --srun-mpi \"$mpi\" -- "));
    EXPECT_THAT(text, HasSubstr("/mastic-train \"${run[@]}\" &\n"));
    EXPECT_THAT(text, HasSubstr("exec mastic-train settle"));
    EXPECT_THAT(text, HasSubstr("#SBATCH --gpus-per-node=1\n"));
}

TEST_F(BatchScript, OfAnotherProgramIsOneStep) {
    const std::string text = print({"--ranks-per-gpu", "3", "--slurm.gpus_per_node", "2"}, "simulate");
    EXPECT_THAT(text, HasSubstr("#SBATCH --ntasks-per-node=6\n"));
    EXPECT_THAT(text, HasSubstr("#SBATCH --no-requeue\n"));
    EXPECT_THAT(text, HasSubstr("\nexec srun --mpi=\"$mpi\" --export=ALL --kill-on-bad-exit=1 --wait=120 mastic-mps"
                                  " --ranks-per-gpu 3 --slurm.gpus_per_node 2 -- "));
    EXPECT_EQ(text.find("settle"), text.npos);
}

TEST_F(BatchScript, IsForTheStartOfAProgram) {
    EXPECT_EQ(node.mps({"plan", "--print-sbatch"}).exit_code, 2);
    EXPECT_EQ(node.mps({"--print-sbatch"}).exit_code, 2);
    const CommandResult cores = node.mps({"--device", "cpu", "--ranks-per-gpu", "2", "--print-sbatch", "--", "sh"});
    EXPECT_EQ(cores.exit_code, 2);
    EXPECT_THAT(cores.error, HasSubstr("--slurm.ranks_per_node"));
}

}  // namespace
}  // namespace mastic::test
