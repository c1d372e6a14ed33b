#include <gtest/gtest.h>

#include "colocation/sample_devices.hpp"

namespace mastic::colocation {
namespace {

std::vector<std::string> ids(const std::vector<Device>& devices) {
    std::vector<std::string> all;
    for (const Device& device : devices) {
        all.push_back(device.id);
    }
    return all;
}

TEST(CoreGroups, AreNumaNodesOrPartsOfThem) {
    const job::CpuView cpus = test::two_numa_nodes(8);
    using Ids = std::vector<std::string>;
    EXPECT_EQ(ids(core_groups(cpus, 0)), (Ids{"cores 0-3,8-11", "cores 4-7,12-15"}));
    EXPECT_EQ(ids(core_groups(cpus, 3)),
              (Ids{"cores 0-2,8-10", "cores 3,11", "cores 4-6,12-14", "cores 7,15"}));
    EXPECT_EQ(ids(core_groups(cpus, 100)), ids(core_groups(cpus, 0)));
    EXPECT_EQ(core_groups(cpus, 0)[1].numa, 1);
}

TEST(CoreGroups, AreOneWhereNoNumaNodeIsKnown) {
    job::CpuView cpus = test::two_numa_nodes(4);
    cpus.numa.clear();
    ASSERT_EQ(core_groups(cpus, 0).size(), 1u);
    EXPECT_FALSE(core_groups(cpus, 0)[0].numa.has_value());
}

}  // namespace
}  // namespace mastic::colocation
