#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/nvml.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::colocation {
namespace {

Environment with_library(const std::string& path) {
    return [path](const std::string& name) {
        return name == "MASTIC_MPS_NVML" ? std::optional(path) : std::nullopt;
    };
}

// The fake library reads the real environment.
class FakeLibrary : public testing::Test {
  protected:
    Nvml open(const std::string& gpus) {
        setenv("FAKE_NVML", directory_.write("gpus", gpus).c_str(), 1);
        return Nvml::open(with_library(FAKE_NVML_LIBRARY));
    }
    void TearDown() override { unsetenv("FAKE_NVML"); }

    test::TempDir directory_;
};

TEST_F(FakeLibrary, ShowsGpusInTheOrderOfTheBus) {
    const Nvml nvml = open(
        "gpu GPU-b 00000000:AF:00.0 81920 3 1 A100 41 42\n"
        "gpu GPU-a 00000000:3B:00.0 40960 0 0 A30\n");
    EXPECT_EQ(nvml.driver_version(), "535.104");
    const std::vector<Device> devices = nvml.devices();
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_EQ(devices[0].id, "GPU-a");
    EXPECT_EQ(devices[0].memory.count, 40960ull << 20);
    EXPECT_EQ(devices[0].numa, 0);
    EXPECT_EQ(devices[0].mode, ComputeMode::shared);
    EXPECT_EQ(devices[1].model, "A100");
    EXPECT_EQ(devices[1].pci, "00000000:AF:00.0");
    EXPECT_EQ(devices[1].numa, 1);
    EXPECT_EQ(devices[1].mode, ComputeMode::exclusive_process);
    EXPECT_THAT(devices[1].users, testing::ElementsAre(41, 42));
}

TEST_F(FakeLibrary, ShowsMigInstancesBehindTheirGpu) {
    const Nvml nvml = open(
        "gpu GPU-b 00000000:AF:00.0 81920 0 1 A100\nmig MIG-1 10240 A100-1g\nmig MIG-2 20480 A100-2g\n"
        "gpu GPU-a 00000000:3B:00.0 81920 0 0 A100\n");
    const std::vector<Device> devices = nvml.devices();
    ASSERT_EQ(devices.size(), 4u);
    EXPECT_EQ(devices[2].id, "MIG-1");
    EXPECT_EQ(devices[2].kind, DeviceKind::mig);
    EXPECT_EQ(devices[2].parent, "GPU-b");
    EXPECT_EQ(devices[2].numa, 1);
    EXPECT_EQ(devices[3].memory.count, 20480ull << 20);
}

TEST_F(FakeLibrary, TellsMemoryInUse) {
    const Nvml nvml = open("gpu GPU-a 00000000:3B:00.0 81920 0 0 A100\n");
    setenv("FAKE_NVML_USED", "512", 1);
    EXPECT_EQ(nvml.memory_in_use("GPU-a").count, 512ull << 20);
    unsetenv("FAKE_NVML_USED");
    test::expect_error(ExitCode::environment, "where GPU-z is: Not Found",
                       [&] { nvml.memory_in_use("GPU-z"); });
}

TEST_F(FakeLibrary, ManyProcessesAreAllSeen) {
    std::string line = "gpu GPU-a 00000000:3B:00.0 81920 0 0 A100";
    for (int pid = 1; pid <= 100; ++pid) {
        line += " " + std::to_string(pid);
    }
    EXPECT_EQ(open(line + "\n").devices().front().users.size(), 100u);
}

TEST_F(FakeLibrary, WithoutADriverSaysSo) {
    unsetenv("FAKE_NVML");
    test::expect_error(ExitCode::environment, "Driver Not Loaded",
                       [] { Nvml::open(with_library(FAKE_NVML_LIBRARY)); });
}

TEST(NvmlLibrary, IsMissedByName) {
    test::expect_error(ExitCode::environment, "no NVIDIA GPU can be found here: /nowhere/libnvidia-ml.so",
                       [] { Nvml::open(with_library("/nowhere/libnvidia-ml.so")); });
    test::expect_error(ExitCode::environment, "lacks functions of NVML",
                       [] { Nvml::open(with_library("libm.so.6")); });
}

}  // namespace
}  // namespace mastic::colocation
