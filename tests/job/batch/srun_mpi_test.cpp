#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/error.hpp>
#include <mastic/job/batch/srun_mpi.hpp>

#include "support/expect_error.hpp"

namespace mastic::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SrunMpi, IsTheOneThatTheLibrarySpeaks) {
    // Debian 12.
    EXPECT_EQ(
        required_srun_mpi("MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx\n"
                          "MPICH configure:\t--with-slurm=/usr --with-device=ch4:ucx --with-pm=hydra\n"),
        "pmi2");
    EXPECT_EQ(required_srun_mpi("MPICH Version:\t4.2.0\nMPICH configure:\t--with-pmix=/usr\n"), "pmix");
    EXPECT_EQ(required_srun_mpi("MPICH Version:\t4.2.0\nMPICH configure:\t--without-pmix\n"), "pmi2");
    EXPECT_EQ(required_srun_mpi("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "pmix");
    EXPECT_EQ(required_srun_mpi("Intel(R) MPI Library 2021.9 for Linux* OS"), "pmi2");
    EXPECT_EQ(required_srun_mpi("MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)"),
              "cray_shasta");
}

TEST(SrunMpi, ListIsReadInEachForm) {
    // 22.05, Debian 12.
    EXPECT_THAT(parse_srun_mpi_list("MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\n"
                                    "specific pmix plugin versions available: pmix_v4\n"),
                ElementsAre("pmix", "none", "cray_shasta", "pmi2", "pmix_v4"));
    // 20.11
    EXPECT_THAT(parse_srun_mpi_list("srun: MPI types are...\nsrun: cray_shasta\nsrun: pmi2\nsrun: none\n"),
                ElementsAre("cray_shasta", "pmi2", "none"));
    EXPECT_THAT(parse_srun_mpi_list("specific pmix plugin versions available: pmix_v3,pmix_v4\n"),
                ElementsAre("pmix_v3", "pmix_v4"));
    EXPECT_THAT(parse_srun_mpi_list(""), IsEmpty());
}

TEST(SrunMpi, MustBeOffered) {
    EXPECT_NO_THROW(check_srun_mpi("pmi2", {"none", "pmi2"}));
    EXPECT_NO_THROW(check_srun_mpi("pmix", {"none", "pmix_v4"}));
    EXPECT_NO_THROW(check_srun_mpi("pmi2", {}));
    test::expect_error(ExitCode::environment, "none, pmix", [] { check_srun_mpi("pmi2", {"none", "pmix"}); });
}

}  // namespace
}  // namespace mastic::job
