// The PMIx client under `srun --mpi=pmix`.
#include <gmock/gmock.h>

#include <algorithm>

#include <mastic/job/pmix_client.hpp>

#include "cluster/slurm_cluster.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

ClusterEnvironment* const environment = ClusterEnvironment::add({.nodes = 3});

class Pmix : public testing::Test {
  protected:
    void SetUp() override {
        if (!job::PmixClient::available()) {
            GTEST_SKIP() << "built without PMIx";
        }
    }
    // Of each rank, in any order.
    static std::string run(const Arguments& options) {
        Arguments command = {"srun"};
        command.insert(command.end(), options.begin(), options.end());
        command.push_back(PMIX_PROBE);
        return environment->cluster().output_of(command);
    }
};

TEST_F(Pmix, TellsEachProcessItsPlaceAndCarriesTexts) {
    const std::string lines = run({"--mpi=pmix", "-N3", "-n5"});
    const std::string words = ", from 0, from 1, from 2, from 3, from 4\n";
    for (const char* place : {"rank 0 of 5, local 0 of 3, node 0", "rank 1 of 5, local 1 of 3, node 0",
                              "rank 2 of 5, local 2 of 3, node 0", "rank 3 of 5, local 0 of 1, node 1",
                              "rank 4 of 5, local 0 of 1, node 2"}) {
        EXPECT_THAT(lines, HasSubstr(place + std::string(" of n1 n2 n3") + words));
    }
    EXPECT_EQ(std::ranges::count(lines, '\n'), 5);
}

TEST_F(Pmix, IsNotThereUnderAnotherPmi) {
    EXPECT_EQ(run({"--mpi=pmi2", "-n1"}), "no PMIx\n");
}

}  // namespace
}  // namespace mastic::test
