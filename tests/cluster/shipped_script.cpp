#include "cluster/shipped_script.hpp"

#include <cstdlib>
#include <iterator>
#include <sstream>

#include <mastic/core/file.hpp>

namespace mastic::test {

ShippedScript::ShippedScript(SlurmCluster& cluster, std::filesystem::path script, std::filesystem::path logs)
    : cluster_(cluster),
      script_(std::move(script)),
      logs_(std::move(logs)),
      programs_(std::filesystem::path(MASTIC_TRAIN).parent_path()) {}

void ShippedScript::start_the_step_too_late() {
    const auto bin = logs_ / "late";
    std::filesystem::create_directory(bin);
    std::filesystem::create_symlink(MASTIC_TRAIN, bin / "mastic-train");
    write_file_atomically(bin / "srun",
                          "#!/bin/sh\nuntil scontrol show job \"$SLURM_JOB_ID\" | grep -q PreemptTime=2; do sleep 0.1; done\n"
                          "exec \"$(PATH=${PATH#*:} && command -v srun)\" \"$@\"\n",
                          0700);
    prefer(bin);
}

std::string ShippedScript::start(const Arguments& arguments, const Arguments& options) const {
    Arguments command = {"env", "PATH=" + programs_.string() + ":" + std::getenv("PATH"), "sbatch",
                         "--parsable", "--output=" + (logs_ / "job-%j.log").string()};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(script_.string());
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::string job = cluster_.output_of(command);
    return job.substr(0, job.find_first_of(";\n"));
}

std::string ShippedScript::log(const std::string& job) const {
    const auto file = logs_ / ("job-" + job + ".log");
    return std::filesystem::exists(file) ? read_text_file(file) : "";
}

void ShippedScript::expect_told(const std::string& job, const std::string& words) const {
    EXPECT_TRUE(wait_until([&] { return log(job).find(words) != std::string::npos; }, Seconds(60)))
        << log(job);
}

std::string ShippedScript::successor_of(const std::string& job) const {
    Arguments jobs;
    const auto alone = [&] {
        jobs = queue(cluster_);
        return jobs.size() == 1 && jobs.front() != job;
    };
    EXPECT_TRUE(wait_until(alone, Seconds(60))) << log(job);
    return jobs.empty() ? "" : jobs.front();
}

Arguments queue(const SlurmCluster& cluster) {
    std::istringstream lines(cluster.output_of({"squeue", "--noheader", "--format=%i"}));
    return {std::istream_iterator<std::string>(lines), {}};
}

}  // namespace mastic::test
