#include <mastic/schedule/site_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <mastic/core/random.hpp>
#include <mastic/schedule/throughput_curve.hpp>

#include "schedule/small_trace.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using mastic::test::expect_error;
using mastic::test::TempDir;
using testing::HasSubstr;

constexpr const char* swf =
    "; Version: 2.2\n"
    "; MaxNodes: 4\n"
    "; MaxProcs: 8\n"
    "1 0 0 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
    "2 10 -1 50 3 -1 -1 3 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
    "3 20 0 -1 -1 -1 -1 4 -1 -1 5 1 1 -1 1 -1 -1 -1\n"
    "4 30 0 10 2 -1 -1 2 -1 -1 1 1 1 -1 1 -1 -1\n"
    "5 40 0 1Mc 2 -1 -1 2 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
    "6 150 0 50 2 -1 -1 2 -1 -1 1 1 1 -1 1 -1 -1 -1\n";

constexpr const char* sacct =
    "JobID|State|Start|End|NNodes\n"
    "10|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|2\n"
    "10.batch|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|1\n"
    "11|CANCELLED by 32874|2026-01-01T00:10:00|2026-01-01T00:20:00|1\n"
    "12|PENDING|Unknown|Unknown|1\n"
    "13|RUNNING|2026-01-01T00:30:00|Unknown|4\n"
    "14|COMPLETED|2026-01-01T00:30:00|2026-01-01T00:40:00|1Mc\n"
    "15|COMPLETED|2026-01-01T00:40:00|2026-01-01T00:30:00|1\n"
    "16|COMPLETED|2026-01-01T00:40:00\n"
    "17|FAILED|2026-01-01T02:00:00|2026-01-01T03:00:00|3\n";

TEST(Swf, LeavesOddRowsOutAndListsThem) {
    OddRows odd("log.swf", false);
    const JobLog log = parse_swf(swf, 0, odd);
    EXPECT_EQ(log.machine_nodes, 4);
    ASSERT_EQ(log.jobs.size(), 3u);
    EXPECT_EQ(log.jobs[0].nodes, 2);  // 4 processors, 2 a node
    EXPECT_EQ(log.jobs[1].nodes, 2);  // 3 processors
    EXPECT_EQ(log.jobs[1].begin, 10);
    EXPECT_EQ(odd.text(10),
              "log.swf:6: it never ran, or its time or processors are unknown (-1)\n"
              "log.swf:7: 17 fields instead of 18\n"
              "log.swf:8: field 4 is '1Mc', no number\n");
}

TEST(Sacct, LeavesOddRowsOutAndListsThem) {
    OddRows odd("jobs.txt", false);
    const JobLog log = parse_sacct(sacct, odd);
    ASSERT_EQ(log.jobs.size(), 3u);
    EXPECT_EQ(log.jobs[1].end - log.jobs[1].begin, 600);
    EXPECT_EQ(log.jobs[2].nodes, 3);
    EXPECT_EQ(odd.text(10),
              "jobs.txt:5: 'Unknown' is no time: it never started, or still runs\n"
              "jobs.txt:6: 'Unknown' is no time: it never started, or still runs\n"
              "jobs.txt:7: '1Mc' is no number of nodes\n"
              "jobs.txt:8: it ends before it starts\n"
              "jobs.txt:9: 3 cells instead of 5\n");
}

TEST(Strict, IsAnErrorAtTheFirstOddRow) {
    OddRows odd("log.swf", true);
    expect_error(ExitCode::data, "log.swf:6: it never ran", [&] { parse_swf(swf, 0, odd); });
    OddRows rows("jobs.txt", true);
    expect_error(ExitCode::data, "jobs.txt:5: 'Unknown'", [&] { parse_sacct(sacct, rows); });
    OddRows events("idle.csv", true);
    expect_error(ExitCode::data, "idle.csv:3: node 4 is idle already",
                 [&] { parse_idle_csv("time_s,node,delta\n0,4,1\n1,4,1\n", events); });
}

TEST(Sacct, SaysHowToExportWhatIsMissing) {
    OddRows odd("jobs.txt", false);
    expect_error(ExitCode::data, "sacct -a -P -X -o", [&] { parse_sacct("JobID|State|Start|End\n", odd); });
}

TEST(IdleCsv, ReadsColumnsInAnyOrderAndListsOddRows) {
    OddRows odd("idle.csv", false);
    const IdleTrace trace = parse_idle_csv(
        "\xEF\xBB\xBF# made by "
        "hand\r\nnode,delta,time_s\r\n3,1,0.5\r\n3,-1,x\r\n2,-1,1\r\n3,2,1\r\n3,-1,7\r\n1,1,6\r\n",
        odd);
    ASSERT_EQ(trace.events.size(), 2u);
    EXPECT_EQ(trace.nodes, 4);
    EXPECT_EQ(trace.end, 7);
    EXPECT_EQ(trace.idle_node_seconds(), 6.5);
    EXPECT_EQ(odd.count(), 4u);
    EXPECT_EQ(odd.rows()[1].reason, "node 2 is not idle");
}

TEST(IdleCsv, SurvivesWritingAndReading) {
    const IdleTrace trace = test::small_trace(1);
    OddRows odd("idle.csv", true);
    const IdleTrace again = parse_idle_csv(to_idle_csv(trace), odd);
    ASSERT_EQ(again.events.size(), trace.events.size());
    EXPECT_EQ(again.events.back().time, trace.events.back().time);
}

TEST(IdleTrace, SlicesKeepWhatIsIdleAtTheirBegin) {
    const IdleTrace trace = test::small_trace(2);
    double sum = 0;
    for (double from = 0; from < trace.end; from += 1000) {
        sum += trace.slice(from, std::min(from + 1000, trace.end)).idle_node_seconds();
    }
    EXPECT_NEAR(sum, trace.idle_node_seconds(), 1e-6 * sum);
}

// Given or not, used and idle node-seconds make up the machine.
TEST(DerivedTrace, LeavesIdleWhatNoJobUses) {
    OddRows odd("log.swf", false);
    const JobLog log = parse_swf(swf, 0, odd);
    const DerivedTrace derived = idle_trace_of(log, 0);
    EXPECT_EQ(derived.trace.nodes, 4);
    EXPECT_EQ(derived.overcommitted_node_seconds, 0);
    EXPECT_DOUBLE_EQ(derived.trace.end, 200);
    EXPECT_DOUBLE_EQ(derived.trace.idle_node_seconds(), 4 * 200 - 2 * 100 - 2 * 50 - 1 * 50);
}

TEST(DerivedTrace, SaysWhereALogOverCommits) {
    OddRows odd("log.swf", false);
    const JobLog log = parse_swf(swf, 0, odd);
    EXPECT_EQ(idle_trace_of(log, 3).overcommitted_node_seconds, 50);
    const TempDir dir;
    const SiteLog read = read_site_log(dir.write("log", swf), {.nodes = 3});
    EXPECT_THAT(read.note, HasSubstr("up to 4 nodes at a time, the machine has 3"));
}

TEST(SiteLog, RecognisesItsFormat) {
    EXPECT_EQ(recognised_format(swf), "swf");
    EXPECT_EQ(recognised_format("1 0 0 100 4 -1 -1 4 -1 -1 1 {a,b} q"), "swf");
    EXPECT_EQ(recognised_format(sacct), "sacct");
    EXPECT_EQ(recognised_format("# x\n\ntime_s,node,delta\n"), "idle-csv");
    EXPECT_EQ(recognised_format("hello\n"), "");
    const TempDir dir;
    expect_error(ExitCode::usage, "--log.format", [&] { read_site_log(dir.write("a", "hello\n"), {}); });
    expect_error(ExitCode::data, "cannot be read", [&] { read_site_log(dir / "none", {}); });
}

// Whatever the bytes: a result, or an Error; never more idle node-seconds than the machine has.
TEST(Fuzz, DamagedLogsAreReadOrRefused) {
    const std::vector<std::string> logs = {swf, sacct, to_idle_csv(test::small_trace(1, 10))};
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        CounterRandom random(seed);
        std::string text = logs[seed % logs.size()];
        for (std::uint64_t i = 0, edits = 1 + random.below(8); i < edits; ++i) {
            const std::string pieces[] = {"-",
                                          "9999999999999999999",
                                          "\n",
                                          "|",
                                          ",",
                                          "1e300",
                                          std::string(1, '\0'),
                                          "nan",
                                          std::string(1, static_cast<char>(random.below(256)))};
            text.replace(random.below(text.size()), random.below(6), pieces[random.below(std::size(pieces))]);
        }
        OddRows odd("log", false);
        try {
            const IdleTrace trace = seed % 3 == 2   ? parse_idle_csv(text, odd)
                                    : seed % 3 == 1 ? idle_trace_of(parse_sacct(text, odd), 8).trace
                                                    : idle_trace_of(parse_swf(text, 0, odd), 8).trace;
            EXPECT_LE(trace.idle_node_seconds(), (1 + 1e-9) * trace.nodes * trace.end + 1e-6)
                << "seed " << seed;
            EXPECT_GE(trace.idle_node_seconds(), -1e-6) << "seed " << seed;
        } catch (const Error&) {
        }
    }
}

TEST(Curves, AreReadAndDamagedOnesRefused) {
    const auto curves = parse_curves("# x\nmodel,1,2,4\na,10,18,30\n", "c.csv");
    ASSERT_EQ(curves.size(), 1u);
    EXPECT_EQ(curves[0].curve.largest(), 4);
    EXPECT_EQ(curves[0].curve.at(3), 24);
    EXPECT_EQ(curves[0].curve.at(99), 30);
    expect_error(ExitCode::data, "c.csv:2", [] { parse_curves("model,1,2\na,10,0\n", "c.csv"); });
    expect_error(ExitCode::data, "c.csv:1", [] { parse_curves("model,2,1\na,1,2\n", "c.csv"); });
    expect_error(ExitCode::data, "c.csv:2: 1 rates for 2", [] { parse_curves("model,1,2\na,1\n", "c.csv"); });
    expect_error(ExitCode::data, "no curve", [] { parse_curves("model,1,2\n", "c.csv"); });
}

}  // namespace
}  // namespace mastic::schedule
