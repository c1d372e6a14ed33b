#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/context.hpp>

#include "support/expect_error.hpp"

namespace mastic::job {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
    return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

struct Place {
    int rank, world_size, local_rank, local_size, node_index, node_count;
    auto operator<=>(const Place&) const = default;
};

Place place_of(const JobContext& c) {
    return {c.rank, c.world_size, c.local_rank, c.local_size, c.node_index, c.node_count};
}

struct Case {
    const char* what;
    Variables variables;
    Launcher launcher;
    Place place;
};

const Variables slurm_step = {{"SLURM_JOB_ID", "77"},
                              {"SLURM_STEP_ID", "0"},
                              {"SLURM_PROCID", "5"},
                              {"SLURM_NTASKS", "7"},
                              {"SLURM_STEP_NUM_TASKS", "7"},
                              {"SLURM_LOCALID", "1"},
                              {"SLURM_NODEID", "2"},
                              {"SLURM_JOB_NUM_NODES", "9"},
                              {"SLURM_STEP_NUM_NODES", "4"},
                              {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                              {"SLURM_TASKS_PER_NODE", "8(x9)"}};

Variables with(Variables base, const Variables& more) {
    for (const auto& [name, value] : more) {
        base[name] = value;
    }
    return base;
}

TEST(JobContext, IsReadFromTheLaunchersVariables) {
    const Case cases[] = {
        {"by hand", {}, Launcher::none, {0, 1, 0, 1, 0, 1}},
        {"a step prefers its own values to the job's", slurm_step, Launcher::slurm, {5, 7, 1, 2, 2, 4}},
        {"pmi2 sets PMI_RANK too",
         with(slurm_step, {{"PMI_RANK", "5"}, {"PMI_SIZE", "7"}}),
         Launcher::slurm,
         {5, 7, 1, 2, 2, 4}},
        {"the last, less full node",
         with(slurm_step, {{"SLURM_NODEID", "3"}, {"SLURM_PROCID", "6"}}),
         Launcher::slurm,
         {6, 7, 1, 1, 3, 4}},
        {"an older Slurm without step variables",
         {{"SLURM_JOB_ID", "1"},
          {"SLURM_STEPID", "0"},
          {"SLURM_PROCID", "3"},
          {"SLURM_NTASKS", "4"},
          {"SLURM_LOCALID", "1"},
          {"SLURM_NODEID", "1"},
          {"SLURM_JOB_NUM_NODES", "2"},
          {"SLURM_TASKS_PER_NODE", "2(x2)"}},
         Launcher::slurm,
         {3, 4, 1, 2, 1, 2}},
        {"a batch script is no step",
         {{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}},
         Launcher::none,
         {0, 1, 0, 1, 0, 1}},
        {"mpiexec",
         {{"PMI_RANK", "3"}, {"PMI_SIZE", "6"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}},
         Launcher::hydra,
         {3, 6, 1, 2, 1, 3}},
        {"mpiexec in a Slurm job, whose proxies are a step",
         with(slurm_step,
              {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}}),
         Launcher::hydra,
         {1, 2, 1, 2, 0, 1}},
    };
    for (const auto& c : cases) {
        const auto context = read_job_context(environment_of(c.variables), "n1");
        EXPECT_EQ(to_string(context.launcher), std::string(to_string(c.launcher))) << c.what;
        EXPECT_EQ(place_of(context), c.place) << c.what;
        EXPECT_EQ(context.host, "n1") << c.what;
    }
}

TEST(JobContext, KnowsTheSlurmJob) {
    const auto context = read_job_context(
        environment_of(with(slurm_step, {{"SLURM_JOB_NAME", "digits"}, {"SLURM_RESTART_COUNT", "3"}})), "n1");
    EXPECT_EQ(context.slurm_job_id, "77");
    EXPECT_EQ(context.slurm_job_name, "digits");
    EXPECT_EQ(context.restart_count, 3);
    EXPECT_EQ(context.slurm_tasks, 7);
}

TEST(JobContext, RefusesAVariableThatIsNoCount) {
    for (const char* bad : {"x", "-1", "3 ", "99999999999"}) {
        test::expect_error(ExitCode::environment, "SLURM_PROCID", [&] {
            read_job_context(environment_of(with(slurm_step, {{"SLURM_PROCID", bad}})), "n1");
        });
    }
}

TEST(TasksPerNode, AreExpanded) {
    using testing::ElementsAre;
    EXPECT_THAT(expand_tasks_per_node("4"), ElementsAre(4));
    EXPECT_THAT(expand_tasks_per_node("2(x3),1"), ElementsAre(2, 2, 2, 1));
    EXPECT_THAT(expand_tasks_per_node("1,3(x2),2"), ElementsAre(1, 3, 3, 2));
    for (const char* bad : {"", "2(x", "2(x)", "(x2)", "2,", "2(3)", "2(x3)1", "a", "1(x99999999)"}) {
        test::expect_error(ExitCode::environment, "tasks per node", [&] { expand_tasks_per_node(bad); });
    }
}

TEST(Singleton, UnderSrunIsRefusedNamingTheRightPmi) {
    const auto context = read_job_context(environment_of(slurm_step), "n1");
    test::expect_error(ExitCode::environment, "--mpi=pmi2", [&] { check_singleton(1, context, "pmi2"); });
    test::expect_error(ExitCode::environment, "7 tasks", [&] { check_singleton(1, context, "pmi2"); });
    EXPECT_NO_THROW(check_singleton(7, context, "pmi2"));
}

TEST(Singleton, InABatchScriptOfSeveralTasksIsRefused) {
    const auto context = read_job_context(
        environment_of({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}), "n1");
    test::expect_error(ExitCode::environment, "srun --mpi=pmi2", [&] { check_singleton(1, context, "pmi2"); });
}

TEST(Singleton, UnderAnotherLaunchersPmixIsRefusedNamingMpichsLauncher) {
    JobContext context = read_job_context(environment_of({}), "n1");
    take_place(context, {5, 7, 1, {4, 5}, {"n0", "n1", "n2"}, 2});
    EXPECT_EQ(place_of(context), (Place{5, 7, 1, 2, 2, 3}));
    test::expect_error(ExitCode::environment, "mpiexec.mpich -n 7", [&] { check_singleton(1, context, "pmi2"); });
    EXPECT_NO_THROW(check_singleton(7, context, "pmi2"));
    take_place(context, {0, 1, 0, {0}, {"n0"}, 0});
    EXPECT_NO_THROW(check_singleton(1, context, "pmi2"));
}

TEST(Singleton, IsFineWhereOneWasAskedFor) {
    EXPECT_NO_THROW(check_singleton(1, read_job_context(environment_of({}), "n1"), "pmi2"));
    EXPECT_NO_THROW(check_singleton(
        1, read_job_context(environment_of(with(slurm_step, {{"SLURM_STEP_NUM_TASKS", "1"}})), "n1"), "pmi2"));
    EXPECT_NO_THROW(check_singleton(
        1, read_job_context(environment_of(with(slurm_step, {{"MPI_LOCALRANKID", "0"}, {"PMI_SIZE", "1"}})),
                            "n1"),
        "pmi2"));
}

}  // namespace
}  // namespace mastic::job
