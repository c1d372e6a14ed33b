#include <gtest/gtest.h>

#include <mastic/colocation/share.hpp>

#include "colocation/sample_devices.hpp"
#include "support/expect_error.hpp"

namespace mastic::colocation {
namespace {

RankPlace rank_of(int sharers) {
    RankPlace rank;
    rank.sharers = sharers;
    rank.threads = 3;
    return rank;
}

const Environment nothing = [](const std::string&) { return std::nullopt; };

TEST(Share, IsAQuarterMoreThanAnEvenPart) {
    const ThreadPercentage automatic = parse_thread_percentage("auto");
    EXPECT_EQ(thread_percentage(automatic, 1, {}), std::nullopt);
    EXPECT_EQ(thread_percentage(automatic, 2, {}), 63);
    EXPECT_EQ(thread_percentage(automatic, 4, {}), 32);
    EXPECT_EQ(thread_percentage(automatic, 200, {}), 1);
    EXPECT_EQ(thread_percentage(parse_thread_percentage("none"), 4, {}), std::nullopt);
    EXPECT_EQ(thread_percentage(parse_thread_percentage("40%"), 4, {}), 40);
}

TEST(Share, IsOfWhatSlurmGaveTheJob) {
    const ThreadPercentage automatic = parse_thread_percentage("auto");
    EXPECT_EQ(thread_percentage(automatic, 1, 50), 50);
    EXPECT_EQ(thread_percentage(automatic, 2, 50), 31);
    EXPECT_EQ(thread_percentage(parse_thread_percentage("none"), 2, 50), 50);
    EXPECT_EQ(thread_percentage(automatic, 64, 1), 1);
}

TEST(Share, OfMemoryLeavesATenth) {
    EXPECT_EQ(memory_limit(parse_memory_limit("auto"), 4, {80ull << 30}), (Bytes{18ull << 30}));
    EXPECT_EQ(memory_limit(parse_memory_limit("auto"), 4, {0}), std::nullopt);
    EXPECT_EQ(memory_limit(parse_memory_limit("2G"), 4, {80ull << 30}), (Bytes{2ull << 30}));
    EXPECT_EQ(memory_limit(parse_memory_limit("none"), 4, {80ull << 30}), std::nullopt);
}

TEST(Share, RefusesWhatIsNone) {
    for (const char* text : {"0", "101", "-5", "half", "", "50%%"}) {
        test::expect_error(ExitCode::usage, "neither auto, none nor a percentage",
                           [&] { parse_thread_percentage(text); });
    }
    test::expect_error(ExitCode::usage, "less than a megabyte", [] { parse_memory_limit("1000"); });
    test::expect_error(ExitCode::usage, "", [] { parse_memory_limit("much"); });
}

TEST(Share, AsVariablesOfARankUnderMps) {
    const Share share{parse_thread_percentage("auto"), parse_memory_limit("auto"),
                      MpsPlace{"/tmp/m/pipe", "/tmp/m/log"}};
    const EnvironmentChange expected = {{"CUDA_VISIBLE_DEVICES", "GPU-a"},
                                        {"CUDA_MPS_PIPE_DIRECTORY", "/tmp/m/pipe"},
                                        {"CUDA_MPS_LOG_DIRECTORY", "/tmp/m/log"},
                                        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "63"},
                                        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=36864M"},
                                        {"OMP_NUM_THREADS", "3"}};
    EXPECT_EQ(environment_of(rank_of(2), test::gpu("GPU-a"), share, nothing), expected);
}

TEST(Share, AsVariablesWithoutMpsOrGpu) {
    const Share share{parse_thread_percentage("auto"), parse_memory_limit("auto"), std::nullopt};
    EXPECT_EQ(environment_of(rank_of(2), test::gpu("GPU-a"), share, nothing),
              (EnvironmentChange{{"CUDA_VISIBLE_DEVICES", "GPU-a"}, {"OMP_NUM_THREADS", "3"}}));
    const Device cores = core_groups(test::two_numa_nodes(4), 0).front();
    EXPECT_EQ(environment_of(rank_of(2), cores, share, nothing),
              (EnvironmentChange{{"CUDA_VISIBLE_DEVICES", ""}, {"OMP_NUM_THREADS", "3"}}));
    const Environment chosen = [](const std::string&) { return std::optional<std::string>("1"); };
    EXPECT_EQ(environment_of(rank_of(2), cores, share, chosen), (EnvironmentChange{{"CUDA_VISIBLE_DEVICES", ""}}))
        << "the user's OMP_NUM_THREADS stays";
}

}  // namespace
}  // namespace mastic::colocation
