#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/tuning/machine.hpp>

#include "support/temp_dir.hpp"

namespace mastic::tuning {
namespace {

TEST(ThisMachine, ReadsCpuAndTheFastestInterface) {
    const test::TempDir root;
    root.write("proc/cpuinfo",
               "processor\t: 0\nmodel name\t: Fast CPU 9000\n\nprocessor\t: 1\nmodel name\t: other\n");
    root.write("sys/class/net/lo/speed", "");
    root.write("sys/class/net/eth0/speed", "1000\n");
    root.write("sys/class/net/eth1/speed", "25000\n");
    root.write("sys/class/net/down/speed", "-1\n");
    const Machine machine = this_machine("MPICH 4.0.2", root.path());
    EXPECT_EQ(machine.cpu, "Fast CPU 9000");
    EXPECT_EQ(machine.network, "eth1");
    EXPECT_EQ(machine.network_bits_per_second, 25'000'000'000u);
    EXPECT_GE(machine.cores, 1);
    EXPECT_NE(to_string(machine).find("eth1 at 25 Gbit/s"), std::string::npos) << to_string(machine);
}

TEST(ThisMachine, WithoutAnyOfTheFilesIsUnknown) {
    const test::TempDir root;
    const Machine machine = this_machine("MPICH 4.0.2", root.path());
    EXPECT_EQ(machine.cpu, "");
    EXPECT_EQ(machine.network, "");
    EXPECT_EQ(machine.network_bits_per_second, 0u);
}

TEST(HardwareDifferences, AreNamedAndUnknownIsNone) {
    const Machine there{"A", 8, "eth0", 1'000'000'000, "MPICH 4.0.2", "0.1.0"};
    Machine here = there;
    EXPECT_THAT(hardware_differences(there, here), testing::IsEmpty());
    here.network = "ens3";
    EXPECT_THAT(hardware_differences(there, here), testing::IsEmpty());
    here.cpu = "";
    here.network_bits_per_second = 0;
    EXPECT_THAT(hardware_differences(there, here), testing::IsEmpty());
    here = {"B", 16, "eth0", 10'000'000'000, "MPICH 4.1", "0.1.0"};
    EXPECT_THAT(hardware_differences(there, here),
                testing::ElementsAre("CPU: A there, B here", "cores: 8 there, 16 here",
                                     "network: 1 Gbit/s there, 10 Gbit/s here"));
    EXPECT_THAT(software_differences(there, here),
                testing::ElementsAre("MPI library: MPICH 4.0.2 there, MPICH 4.1 here"));
}

TEST(HardwareDifferences, AFastFabricIsNotEthernet) {
    const Machine there{"A", 8, "fast fabric", 0, "MPICH 4.0.2", "0.1.0"};
    const Machine here{"A", 8, "eth0", 1'000'000'000, "MPICH 4.0.2", "0.1.0"};
    EXPECT_THAT(hardware_differences(there, here),
                testing::ElementsAre("network: fast fabric there, eth0 here"));
}

}  // namespace
}  // namespace mastic::tuning
