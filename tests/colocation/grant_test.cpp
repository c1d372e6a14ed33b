#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/grant.hpp>

#include "colocation/sample_devices.hpp"
#include "support/expect_error.hpp"

namespace mastic::colocation {
namespace {

using test::gpu;
using test::mig;
using Variables = std::map<std::string, std::string>;

const std::vector<Device> three = {gpu("GPU-aa11"), gpu("GPU-aa22"), gpu("GPU-bb33")};
const std::vector<Device> cut = {gpu("GPU-aa11"), mig("MIG-1", "GPU-aa11"), mig("MIG-2", "GPU-aa11"),
                                 gpu("GPU-bb33")};

Environment environment_of(const Variables& variables) {
    return [variables](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

std::vector<std::string> granted(const Variables& variables, const std::vector<Device>& present) {
    std::vector<std::string> ids;
    for (const Device& device : granted_devices(environment_of(variables), present).devices) {
        ids.push_back(device.id);
    }
    return ids;
}

struct Row {
    const char* what;
    Variables variables;
    const std::vector<Device>& present;
    std::vector<std::string> expected;
};

TEST(Grant, FollowsTheTable) {
    const Row table[] = {
        {"by hand: all", {}, three, {"GPU-aa11", "GPU-aa22", "GPU-bb33"}},
        {"indices, in their order", {{"CUDA_VISIBLE_DEVICES", "2,0"}}, three, {"GPU-bb33", "GPU-aa11"}},
        {"UUID and beginning of one",
         {{"CUDA_VISIBLE_DEVICES", "GPU-bb33,GPU-aa2"}},
         three,
         {"GPU-bb33", "GPU-aa22"}},
        {"Slurm, gres/gpu",
         {{"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "1"}, {"SLURM_JOB_GPUS", "0,1"}},
         three,
         {"GPU-aa22"}},
        {"Slurm without CUDA_VISIBLE_DEVICES: the step's GPUs",
         {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_GPUS", "1"}, {"SLURM_JOB_GPUS", "0,1"}},
         three,
         {"GPU-aa22"}},
        {"MIG ids", {{"CUDA_VISIBLE_DEVICES", "MIG-2"}}, cut, {"MIG-2"}},
        {"the index of a GPU that is cut", {{"CUDA_VISIBLE_DEVICES", "0"}}, cut, {"MIG-1", "MIG-2"}},
        {"an index counts GPUs, not instances", {{"CUDA_VISIBLE_DEVICES", "1"}}, cut, {"GPU-bb33"}},
        {"by hand, some cut", {}, cut, {"MIG-1", "MIG-2", "GPU-bb33"}},
    };
    for (const Row& row : table) {
        EXPECT_EQ(granted(row.variables, row.present), row.expected) << row.what;
    }
}

TEST(Grant, NeverGuesses) {
    const auto refuse = [](const Variables& variables, const char* part) {
        test::expect_error(ExitCode::environment, part, [&] { granted(variables, three); });
    };
    refuse({{"SLURM_JOB_ID", "7"}}, "this job was granted no GPU");
    refuse({{"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, "no GPU was granted here");
    refuse({{"CUDA_VISIBLE_DEVICES", ""}}, "no GPU was granted here");
    refuse({{"CUDA_VISIBLE_DEVICES", "0,5"}}, "grants GPU 5, but this node shows 3");
    refuse({{"CUDA_VISIBLE_DEVICES", "GPU-cc"}}, "no device of this node has that id");
    refuse({{"CUDA_VISIBLE_DEVICES", "GPU-aa"}}, "several devices begin so");
    refuse({{"CUDA_VISIBLE_DEVICES", "1,1"}}, "names GPU-aa22 twice");
    refuse({{"CUDA_VISIBLE_DEVICES", "-1"}}, "no device of this node has that id");
    test::expect_error(ExitCode::environment, "this node has no GPU", [] { granted({}, {}); });
}

TEST(Grant, TellsWhoElseIsThere) {
    const Variables shards = {
        {"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "0"}, {"SLURM_SHARDS_ON_NODE", "2"}};
    EXPECT_THAT(granted_devices(environment_of(shards), three).notes,
                testing::ElementsAre(testing::HasSubstr("other jobs may use these GPUs")));
    const Variables share = {
        {"SLURM_JOB_ID", "7"}, {"CUDA_VISIBLE_DEVICES", "0"}, {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50"}};
    EXPECT_THAT(granted_devices(environment_of(share), three).notes,
                testing::ElementsAre("the job has 50 % of the threads of these GPUs"));
}

}  // namespace
}  // namespace mastic::colocation
