#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/error.hpp>
#include <mastic/job/batch/slurm_site.hpp>

#include "support/expect_error.hpp"

namespace mastic::job {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A cluster with two kinds of node in its default partition.
constexpr const char* sinfo_answer =
    "batch*|up|4:00:00|6|32|(null)\n"
    "batch*|up|4:00:00|2|64+|gpu:a100:4(S:0-1),shard:16\n"
    "gpu|up|infinite|2|64|gpu:a100:4(S:0-1),gpu:v100:2\n"
    "old|down|1-00:00:00|8|16|gpu:2\n"
    "some warning of a plugin\n";

CommandRunner cluster(const CommandResult& sinfo) {
    return [sinfo](const std::vector<std::string>& argv, Seconds) {
        if (argv[0] == "sinfo") {
            return sinfo;
        }
        if (argv[0] == "srun") {
            return CommandResult{0, "", "MPI plugin types are...\n\tnone\n\tpmi2\n"};
        }
        return CommandResult{0, "physics\n", ""};
    };
}

SlurmSite site() {
    return survey_slurm_site("me", cluster({0, sinfo_answer, ""}));
}

TEST(SlurmSite, IsReadFromSlurmsAnswers) {
    const SlurmSite found = site();
    EXPECT_EQ(found.problem, "");
    EXPECT_EQ(found.account, "physics");
    EXPECT_THAT(found.mpi_types, ElementsAre("none", "pmi2"));
    ASSERT_EQ(found.partitions.size(), 3u);
    const SlurmPartition& batch = found.partitions[0];
    EXPECT_EQ(batch.name, "batch");
    EXPECT_TRUE(batch.is_default);
    EXPECT_EQ(batch.nodes, 8);
    EXPECT_EQ(batch.cpus_per_node, 32);
    EXPECT_EQ(batch.gpus_per_node, 0);
    EXPECT_EQ(batch.time_limit, Seconds{4 * 3600});
    const SlurmPartition& gpu = found.partitions[1];
    EXPECT_EQ(gpu.gpus_per_node, 6);
    EXPECT_FALSE(gpu.time_limit);
    EXPECT_FALSE(found.partitions[2].up);
}

TEST(SlurmSite, SaysWhySlurmCannotBeAsked) {
    EXPECT_THAT(survey_slurm_site("me", cluster({127, "", ""})).problem, HasSubstr("no sinfo"));
    EXPECT_THAT(survey_slurm_site("me", cluster({124, "", ""})).problem, HasSubstr("did not answer"));
    EXPECT_EQ(
        survey_slurm_site("me", cluster({1, "", "slurm_load_partitions: Unable to contact\nmore"})).problem,
        "slurm_load_partitions: Unable to contact");
}

TEST(FitToSite, TakesTheDefaultPartitionAndItsLimits) {
    SlurmOptions options;
    options.time = Seconds{24 * 3600};
    const FittedOptions fitted = fit_to_site(options, site());
    EXPECT_EQ(fitted.options.partition, "batch");
    EXPECT_EQ(fitted.options.nodes, 4);
    EXPECT_EQ(fitted.options.time, Seconds{4 * 3600});
    EXPECT_EQ(fitted.options.account, "physics");
    EXPECT_THAT(fitted.notes, Contains(HasSubstr("time limit")));
    EXPECT_THAT(fitted.notes, Contains(HasSubstr("batch (8 nodes), gpu (2 nodes), old (8 nodes, down)")));
}

TEST(FitToSite, KeepsWhatIsAsked) {
    SlurmOptions options;
    options.partition = "gpu";
    options.account = "mine";
    options.gpus_per_node = 2;
    const FittedOptions fitted = fit_to_site(options, site());
    EXPECT_EQ(fitted.options.nodes, 2);  // all that there are
    EXPECT_EQ(fitted.options.account, "mine");
    EXPECT_EQ(fitted.options.time, options.time);
    EXPECT_THAT(fitted.notes, Contains(HasSubstr("6 GPUs each, of which 2")));
}

TEST(FitToSite, RefusesWhatThePartitionDoesNotHave) {
    const auto refuse = [](const std::string& message, auto change) {
        SlurmOptions options;
        change(options);
        test::expect_error(ExitCode::usage, message, [&] { fit_to_site(options, site()); });
    };
    refuse("unknown partition 'btach'", [](SlurmOptions& o) { o.partition = "btach"; });
    refuse("8 nodes", [](SlurmOptions& o) { o.nodes = 9; });
    refuse("32 cores", [](SlurmOptions& o) { o.ranks_per_node = 3, o.cpus_per_rank = 11; });
    refuse("0 GPUs", [](SlurmOptions& o) { o.gpus_per_node = 1; });
}

TEST(FitToSite, KeepsDefaultsWithoutSlurm) {
    SlurmSite none;
    none.problem = "there is no sinfo here";
    const FittedOptions fitted = fit_to_site({}, none);
    EXPECT_EQ(fitted.options.nodes, 4);
    EXPECT_EQ(fitted.options.partition, "");
    EXPECT_THAT(fitted.notes, ElementsAre(HasSubstr("there is no sinfo here")));
}

}  // namespace
}  // namespace mastic::job
