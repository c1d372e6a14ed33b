// The real mastic-rescale on small logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/core/command.hpp>
#include <mastic/core/file.hpp>

#include "report/markup.hpp"
#include "schedule/small_trace.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using mastic::test::TempDir;
using testing::HasSubstr;

CommandResult rescale(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MASTIC_RESCALE);
    return run_command(arguments, Seconds(60));
}

std::string write_trace(const TempDir& dir) {
    return dir
        .write("a rather <long> & odd name of a log of idle nodes of some machine.csv",
               to_idle_csv(test::small_trace(1)))
        .string();
}

TEST(Simulate, WritesTableJsonPageAndDecisions) {
    const TempDir dir;
    const std::string page = (dir / "out.html").string();
    const std::string json = (dir / "out.json").string();
    const std::string decisions = (dir / "decisions.jsonl").string();
    const CommandResult result =
        rescale({"simulate", write_trace(dir), page, "--simulate.json", json, "--simulate.decisions",
                 decisions, "--simulate.jobs", "4", "--log.write", (dir / "idle.csv").string()});
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("malletrain"));
    EXPECT_THAT(result.output, HasSubstr("efficiency = progress / progress of the oracle"));
    const auto document = nlohmann::json::parse(read_text_file(json));
    ASSERT_EQ(document.at("policies").size(), 8u);
    for (const auto& policy : document.at("policies")) {
        const double given = policy.at("given_node_s");
        EXPECT_NEAR(policy.at("computing_node_s").get<double>() + policy.at("wasted_node_s").get<double>(),
                    given, 1e-6 * given);
        EXPECT_LE(policy.at("efficiency").get<double>(), 1.0);
    }
    const auto elements = mastic::test::parse_markup(read_text_file(page));
    EXPECT_GE(mastic::test::select(elements, "svg").size(), 4u);
    EXPECT_THAT(read_text_file(page), HasSubstr("Nodes filled by mastic"));
    EXPECT_EQ(read_text_file(dir / "idle.csv"), to_idle_csv(test::small_trace(1)));
    const std::string lines = read_text_file(decisions);
    const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
    EXPECT_FALSE(first.at("reason").get<std::string>().empty());
}

TEST(Simulate, NeverReplacesTheLog) {
    const TempDir dir;
    const std::string log = write_trace(dir), before = read_text_file(log);
    EXPECT_EQ(rescale({"simulate", log, log}).exit_code, 2);
    EXPECT_EQ(rescale({"simulate", log, "--simulate.json", log}).exit_code, 2);
    EXPECT_EQ(read_text_file(log), before);
}

TEST(Simulate, LooksAtItsOutputsBeforeTheReplay) {
    const TempDir dir;
    const std::string log = write_trace(dir);
    const CommandResult result = rescale({"simulate", log, "--simulate.json", (dir / "none/x.json").string()});
    EXPECT_EQ(result.exit_code, 5);
    EXPECT_THAT(result.error, HasSubstr("none/x.json"));
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(rescale({"simulate", log, dir.path().string()}).exit_code, 5) << "a directory";
    EXPECT_EQ(dir.names().size(), 1u);
}

TEST(Simulate, SaysOddRowsAndIsStrictIfAsked) {
    const TempDir dir;
    const std::string log = dir.write("jobs.txt",
                                      "JobID|State|Start|End|NNodes\n"
                                      "1|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|2\n"
                                      "2|RUNNING|2026-01-01T00:30:00|Unknown|4\n"
                                      "3|COMPLETED|2026-01-01T03:00:00|2026-01-01T04:00:00|3\n")
                                .string();
    const CommandResult result =
        rescale({"simulate", log, "--log.nodes", "8", "--simulate.policies", "oracle,mastic"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.error, HasSubstr("jobs.txt:3: 'Unknown' is no time"));
    EXPECT_THAT(result.error, HasSubstr("1 odd rows were left out"));
    const CommandResult strict = rescale({"simulate", log, "--strict"});
    EXPECT_EQ(strict.exit_code, 3);
    EXPECT_THAT(strict.error, HasSubstr("jobs.txt:3"));
}

TEST(Simulate, DryRunWritesNothing) {
    const TempDir dir;
    const CommandResult result =
        rescale({"simulate", write_trace(dir), (dir / "o.html").string(), "--dry-run"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("nothing was replayed"));
    EXPECT_EQ(dir.names().size(), 1u);
}

TEST(Simulate, ErrorsHaveTheirCodes) {
    const TempDir dir;
    const std::string log = write_trace(dir);
    EXPECT_EQ(rescale({"simulate", (dir / "none").string()}).exit_code, 3);
    EXPECT_EQ(rescale({"simulate", dir.write("x", "hello\n").string()}).exit_code, 2);
    EXPECT_EQ(rescale({"simulate", log, "--simulate.policies", "mastik"}).exit_code, 2);
    EXPECT_EQ(rescale({"simulate", log, "--simulate.least", "9", "--simulate.most", "8"}).exit_code, 2);
    EXPECT_EQ(rescale({"simulate", log, "--log.begin", "9-00:00:00"}).exit_code, 2);
    EXPECT_EQ(rescale({"simulate", log, "/nowhere/o.html", "--simulate.policies", "none"}).exit_code, 5);
    EXPECT_EQ(rescale({"simulate"}).exit_code, 2);
    EXPECT_EQ(rescale({}).exit_code, 2);
    const CommandResult moment = rescale({"simulate", dir.write("moment.csv", "time_s,node,delta\n0,0,1\n").string()});
    EXPECT_EQ(moment.exit_code, 3);
    EXPECT_THAT(moment.error, HasSubstr("all events are at one time"));
}

TEST(Simulate, IsTheSameEachTime) {
    const TempDir dir;
    const std::vector<std::string> arguments = {"simulate", write_trace(dir), "--simulate.seed", "7"};
    EXPECT_EQ(rescale(arguments).output, rescale(arguments).output);
}

// mastic-rescale view, where squeue, sinfo and scontrol are scripts of that directory.
CommandResult view_of(const TempDir& slurm, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(),
                     {"env", "PATH=" + slurm.path().string() + ":/usr/bin:/bin", MASTIC_RESCALE, "view"});
    return run_command(arguments, Seconds(60));
}

void write_script(const TempDir& dir, const std::string& name, const std::string& text) {
    std::filesystem::permissions(dir.write(name, "#!/bin/sh\n" + text + "\n"),
                                 std::filesystem::perms::owner_all);
}

void write_recorded_slurm(const TempDir& dir) {
    write_script(dir, "squeue", "cat " RECORDED_SLURM "/squeue.txt");
    write_script(dir, "sinfo", "cat " RECORDED_SLURM "/sinfo.txt");
    write_script(dir, "scontrol", "echo No reservations in the system");
}

TEST(View, ShowsIdleNodesAndWhy) {
    const TempDir slurm;
    write_recorded_slurm(slurm);
    const CommandResult text = view_of(slurm);
    EXPECT_EQ(text.exit_code, 0) << text.error;
    EXPECT_THAT(text.output, HasSubstr("job 5 is planned there"));
    EXPECT_THAT(text.output, HasSubstr("1 drained: disk"));
    const auto json = nlohmann::json::parse(view_of(slurm, {"--json"}).output);
    ASSERT_EQ(json.at("idle").size(), 1u);
    EXPECT_EQ(json.at("idle")[0].at("node"), "n9");
    EXPECT_EQ(json.at("not_idle").size(), 11u);
    EXPECT_THAT(view_of(slurm, {"--view.partition", "another"}).output, HasSubstr("no node is idle"));
}

TEST(View, DryRunAsksNothing) {
    const TempDir slurm;
    write_script(slurm, "squeue", "touch " + (slurm / "asked").string());
    const CommandResult result = view_of(slurm, {"--dry-run"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_THAT(result.output, HasSubstr("squeue --all"));
    EXPECT_EQ(slurm.names().size(), 1u);
}

TEST(View, SaysWhySlurmCannotBeAsked) {
    const TempDir slurm;
    write_script(slurm, "squeue", "echo controller is away >&2; exit 1");
    const CommandResult result = view_of(slurm);
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_THAT(result.error, HasSubstr("squeue failed: controller is away"));
}

TEST(Information, IsPrinted) {
    EXPECT_THAT(rescale({"--help"}).output, HasSubstr("simulate"));
    EXPECT_EQ(nlohmann::json::parse(rescale({"--version", "--json"}).output).at("program"), "mastic-rescale");
    EXPECT_THAT(rescale({"--generate", "man"}).output, HasSubstr(".TH"));
    EXPECT_THAT(rescale({"simulate", "x", "--print-config", "--simulate.jobs", "3"}).output,
                HasSubstr("jobs = 3  # --simulate.jobs"));
}

}  // namespace
}  // namespace mastic::schedule
