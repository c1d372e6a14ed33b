// Foreign programs with the interposer and without: the same output, to the last bit.
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>
#include <mastic/tuning/table.hpp>

#include "support/temp_dir.hpp"

namespace mastic::comm {
namespace {

using testing::HasSubstr;
using testing::Not;

using Variables = std::map<std::string, std::string>;

const Variables without{};

Variables with(const std::string& transport) {
    return {{"LD_PRELOAD", PRELOAD}, {"MASTIC_PMPI_TRANSPORT", transport}, {"MASTIC_PMPI_REPORT", "1"}};
}

CommandResult run(int ranks, const Variables& variables, const std::vector<std::string>& program) {
    std::vector<std::string> command{MPIEXEC, "-n", std::to_string(ranks)};
    for (const auto& [name, value] : variables) {
        command.insert(command.end(), {"-genv", name, value});
    }
    command.insert(command.end(), program.begin(), program.end());
    return run_command(command, Seconds(110));
}

// Runs a scenario in both ways; returns what the interposer said.
std::string compare(int ranks, const Variables& variables, const std::string& scenario) {
    const CommandResult plain = run(ranks, without, {PROGRAM, scenario});
    const CommandResult preloaded = run(ranks, variables, {PROGRAM, scenario});
    EXPECT_EQ(plain.exit_code, 0) << plain.error;
    EXPECT_EQ(preloaded.exit_code, 0) << preloaded.error;
    EXPECT_THAT(plain.output, HasSubstr("child: 0"));
    EXPECT_EQ(preloaded.output, plain.output) << preloaded.error;
    return preloaded.error;
}

class Preload : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Preload, testing::Values(1, 2, 3, 4));

TEST_P(Preload, Reductions) {
    const std::string said = compare(GetParam(), with("shm"), "reductions");
    if (GetParam() == 1) {
        EXPECT_THAT(said, HasSubstr("MPI: one rank"));
        return;
    }
    for (const char* way : {"shm auto", "shm ring", "MPI: operation", "MPI: data type",
                            "MPI: parts of different lengths", "MPI: no elements"}) {
        EXPECT_THAT(said, HasSubstr(way));
    }
}

TEST_P(Preload, ReductionsByTcp) {
    EXPECT_THAT(compare(GetParam(), with("tcp"), "reductions"),
                HasSubstr(GetParam() == 1 ? "one rank" : "tcp ring"));
}

TEST_P(Preload, Broadcasts) {
    EXPECT_THAT(compare(GetParam(), with("shm"), "broadcasts"),
                HasSubstr(GetParam() == 1 ? "one rank" : "shm chain"));
    EXPECT_THAT(compare(GetParam(), with("tcp"), "broadcasts"),
                HasSubstr(GetParam() == 1 ? "one rank" : "tcp chain"));
}

TEST_P(Preload, Communicators) {
    compare(GetParam(), with("shm"), "communicators");
    compare(GetParam(), with("tcp"), "communicators");
    EXPECT_THAT(compare(GetParam(), with("auto"), "communicators"),
                HasSubstr(GetParam() == 1 ? "one rank" : "MPI: little traffic on the communicator so far"));
}

TEST_P(Preload, TypesAndOperationsOfTheProgram) {
    EXPECT_THAT(compare(GetParam(), with("shm"), "foreign-types"), Not(HasSubstr("shm")));
}

TEST_P(Preload, MessagesMeanwhile) {
    compare(GetParam(), with("shm"), "messages");
    compare(GetParam(), with("tcp"), "messages");
}

TEST_P(Preload, Errors) {
    compare(GetParam(), with("shm"), "errors");
}

TEST_P(Preload, AttributesOfTheProgram) {
    compare(GetParam(), with("shm"), "attributes");
}

TEST_P(Preload, ThreadsWithACommunicatorEach) {
    compare(GetParam(), with("shm"), "threads");
    compare(GetParam(), with("tcp"), "threads");
}

TEST(PreloadOnce, NativeLeavesEverythingToMpi) {
    const std::string said = compare(2, with("native"), "reductions");
    EXPECT_THAT(said, HasSubstr("MPI: no transport"));
    EXPECT_THAT(said, Not(HasSubstr("shm")));
}

TEST(PreloadOnce, AnUnknownTransportIsSaidOnceAndLeftToMpi) {
    const std::string said = compare(2, with("smoke-signals"), "attributes");
    const std::string complaint = "mastic-pmpi: MASTIC_PMPI_TRANSPORT: unknown transport 'smoke-signals'";
    EXPECT_THAT(said, HasSubstr(complaint));
    EXPECT_EQ(said.find(complaint), said.rfind(complaint));
}

TEST(PreloadOnce, WhereNoTransportCanBeMadeOneWarningIsAll) {
    Variables variables = with("tcp");
    variables["MASTIC_PMPI_NETWORK"] = "203.0.113.0/24";  // of documentation: nobody has it
    const std::string said = compare(3, variables, "communicators");
    EXPECT_THAT(said, HasSubstr("mastic-pmpi: left to MPI, since there is no transport"));
    EXPECT_EQ(said.find("left to MPI, since"), said.rfind("left to MPI, since"));
    EXPECT_THAT(said, HasSubstr("MPI: no transport"));
    EXPECT_THAT(said, Not(HasSubstr("tcp ring")));
}

// One size of a collective in a tuning table.
tuning::CollectiveResult rows_of(Collective collective, TransportKind transport, const std::string& algorithm) {
    tuning::CollectiveResult result{.collective = collective, .sizes = {{Bytes{1 << 20}, Bytes{1 << 20}, {}}}};
    result.sizes[0].candidates = {{.choice = {.transport = transport, .algorithm = algorithm},
                                   .verdict = tuning::Verdict::chosen,
                                   .timing = {100, 90, 110, 5}}};
    return result;
}

// As nothing that is built in would choose.
tuning::TuningTable odd_table(int ranks) {
    tuning::TuningTable table;
    table.machine = tuning::this_machine("");
    table.created = "2025-01-31T12:00:00Z";
    table.shapes = {{{1, ranks},
                     {rows_of(Collective::allreduce, TransportKind::tcp, "ring"),
                      rows_of(Collective::broadcast, TransportKind::shm, "chain"),
                      rows_of(Collective::reduce_scatter, TransportKind::mpi, "ring")}}};
    return table;
}

Variables tuned_by(const std::filesystem::path& table) {
    Variables variables = with("auto");
    variables["MASTIC_PMPI_TUNING"] = table.string();
    return variables;
}

TEST(PreloadTuning, ChoosesByTheTable) {
    const test::TempDir dir;
    odd_table(2).save(dir / "tuning.json");
    const std::string reductions = compare(2, tuned_by(dir / "tuning.json"), "reductions");
    EXPECT_THAT(reductions, HasSubstr("MPI_Allreduce             tcp ring"));
    EXPECT_THAT(reductions, Not(HasSubstr("shm auto")));
    EXPECT_THAT(reductions, Not(testing::ContainsRegex("MPI_Reduce_scatter(_block)? +(tcp|shm)"))) << "our messages are no way here";
    EXPECT_THAT(compare(2, tuned_by(dir / "tuning.json"), "broadcasts"), HasSubstr("MPI_Bcast                 shm chain"));
}

TEST(PreloadTuning, ATableThatCannotBeUsedIsSaidOnceAndTheRestGoesOn) {
    const test::TempDir dir;
    tuning::TuningTable other = odd_table(2);
    other.machine.cores += 1;
    other.save(dir / "other.json");
    write_file_atomically(dir / "torn.json", R"({"format": 1, "machine)");
    for (const auto& [file, why] : {std::pair("other.json", "other hardware"), {"torn.json", "torn.json"}, {"none.json", "none.json"}}) {
        const std::string said = compare(2, tuned_by(dir / file), "reductions");
        EXPECT_THAT(said, HasSubstr("mastic-pmpi: MASTIC_PMPI_TUNING: "));
        EXPECT_THAT(said, HasSubstr(why));
        EXPECT_EQ(said.find("MASTIC_PMPI_TUNING"), said.rfind("MASTIC_PMPI_TUNING"));
        EXPECT_THAT(said, HasSubstr("shm auto")) << file;
    }
}

TEST(PreloadOnce, WithoutTheWishThereIsNoReport) {
    Variables variables = with("shm");
    variables["MASTIC_PMPI_REPORT"] = "0";
    EXPECT_EQ(compare(2, variables, "attributes"), "");
}

TEST(PreloadOnce, ProgramsWithoutMpiNoticeNothing) {
    const std::string preload = std::string("LD_PRELOAD=") + PRELOAD;
    for (const char* binding : {"LD_BIND_NOW=", "LD_BIND_NOW=1"}) {
        const CommandResult shell =
            run_command({"env", preload, binding, "sh", "-c", "ls / >/dev/null && echo fine"}, Seconds(20));
        EXPECT_EQ(shell.output, "fine\n") << shell.error;
        EXPECT_EQ(shell.error, "");
    }
    EXPECT_EQ(run_command({"env", preload, PROGRAM}, Seconds(20)).output, "no MPI at all\n");
}

TEST(PreloadOnce, AModuleMayLoadMpiForItselfAlone) {
    const CommandResult result = run(2, with("shm"), {HOST, PLUGIN});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.output, "sum 2\n");
    EXPECT_THAT(result.error, HasSubstr("shm auto"));
}

TEST(PreloadOnce, ExportsWhatItTakesOverAndNeedsNothingOfTheProgram) {
    const CommandResult symbols =
        run_command({"nm", "-D", "--defined-only", "--format=just-symbols", PRELOAD}, Seconds(20));
    EXPECT_EQ(symbols.output,
              "MPI_Allreduce\nMPI_Bcast\nMPI_Finalize\nMPI_Reduce_scatter\nMPI_Reduce_scatter_block\n")
        << symbols.error;
    const CommandResult needs = run_command({"readelf", "-d", PRELOAD}, Seconds(20));
    EXPECT_THAT(needs.output, HasSubstr("libc.so"));
    for (const char* library : {"libspdlog", "libfmt", "libstdc++", "libhwloc", "libmpi"}) {
        EXPECT_THAT(needs.output, Not(HasSubstr(library)));
    }
}

}  // namespace
}  // namespace mastic::comm
