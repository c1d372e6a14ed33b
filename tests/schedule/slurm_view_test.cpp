#include <mastic/schedule/slurm_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/file.hpp>
#include <mastic/core/random.hpp>
#include <mastic/schedule/idle_forecast.hpp>

#include "schedule/recorded_slurm.hpp"

namespace mastic::schedule {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TimePoint at(std::int64_t seconds) {
    return std::chrono::system_clock::from_time_t(seconds);
}

const QueuedJob& waiting(const ClusterView& view, std::string_view id) {
    return *std::ranges::find(view.pending, id, &QueuedJob::id);
}

TEST(SlurmView, KnowsWhichNodesAreIdleAndWhyNot) {
    const ClusterView view = test::recorded_view();
    std::vector<std::string> told;
    for (const ClusterNode& node : view.nodes) {
        told.push_back(node.name + " " + (node.idle ? "idle" : node.why_not));
    }
    EXPECT_THAT(told, ElementsAre("n1 allocated", "n10 reserved by class", "n11 allocated", "n12 drained: disk",
                                  "n2 allocated", "n3 allocated", "n4 idle*", "n5 allocated", "n6 mixed",
                                  "n7 allocated", "n8 drained: bad | fan", "n9 idle"));
    EXPECT_EQ(view.odd_rows, 0u) << view.odd_text;
    EXPECT_EQ(view.hidden, 0u);
    const ClusterNode& node = *view.find("n9");
    EXPECT_THAT(node.partitions, ElementsAre("cancel", "normal", "requeue"));
    EXPECT_EQ(node.cpus, 4);
    EXPECT_EQ(node.memory_mb, 4000);
    EXPECT_EQ(node.gpus, 2);
    EXPECT_TRUE(node.planned);
    EXPECT_EQ(view.find("n13"), nullptr);
}

TEST(SlurmView, KnowsTheJobsThatRun) {
    const ClusterView view = test::recorded_view();
    ASSERT_EQ(view.running.size(), 5u);
    const RunningJob& odd = *std::ranges::find(view.running, "2", &RunningJob::id);
    EXPECT_EQ(odd.name, "odd|name");
    EXPECT_THAT(odd.nodes, ElementsAre("n5"));
    EXPECT_EQ(odd.end, at(1796010960));
}

TEST(SlurmView, KnowsTheJobsThatWait) {
    const ClusterView view = test::recorded_view();
    EXPECT_EQ(view.pending.size(), 8u);
    const QueuedJob& big = waiting(view, "5");
    EXPECT_EQ(big.nodes, 6);
    EXPECT_EQ(big.planned_start, at(1796010960));
    EXPECT_THAT(big.planned_nodes, ElementsAre("n1", "n2", "n3", "n5", "n9", "n11"));
    EXPECT_TRUE(big.waits_for_nodes());
    const QueuedJob& array = waiting(view, "10_[1-4%2]");
    EXPECT_TRUE(array.is_array());
    EXPECT_EQ(array.gpus, 1);
    const QueuedJob& multi = waiting(view, "11");
    EXPECT_THAT(multi.partitions, ElementsAre("cancel", "requeue"));
    EXPECT_THAT(multi.excluded, ElementsAre("n4"));
    EXPECT_EQ(waiting(view, "7").planned_start, at(1796011560));
    EXPECT_THAT(waiting(view, "7").planned_nodes, IsEmpty());
    EXPECT_FALSE(waiting(view, "8").waits_for_nodes());   // held
    EXPECT_FALSE(waiting(view, "9").waits_for_nodes());   // after another
    EXPECT_FALSE(waiting(view, "12").waits_for_nodes());  // more nodes than there are
    EXPECT_TRUE(waiting(view, "4").waits_for_nodes());
    EXPECT_FALSE(waiting(view, "9").planned_start);
}

TEST(SlurmView, KnowsReservations) {
    const ClusterView view = test::recorded_view();
    ASSERT_EQ(view.reservations.size(), 2u);
    EXPECT_EQ(view.reservations[0].name, "maint");
    EXPECT_EQ(view.reservations[0].start, at(1796016960));
    EXPECT_THAT(view.reservations[0].nodes, ElementsAre("n9"));
    OddRows odd("scontrol", false);
    EXPECT_THAT(parse_reservations("No reservations in the system\n", odd), IsEmpty());
    EXPECT_EQ(odd.count(), 0u);
}

TEST(SlurmView, LeavesOddRowsOutAndTellsThem) {
    OddRows odd("squeue", false);
    const Jobs jobs = parse_jobs(
        "slurm_load_jobs error\n"
        "1|R|p|u|1|n[1-|1|2|(null)|5|1|0|N/A|||(null)|None|a\n"
        "2|R|p|u|1|n1|1|soon|(null)|5|1|0|N/A|||(null)|None|a\n"
        "3|PD|p|u|-3||N/A|N/A|(null)|5|1|0|N/A|||(null)|None|a\n"
        "4|PD|p|u|2K||N/A|N/A|(null)|4294901759|2K|2G|gres/gpu:a100:3|||(null)|None|a\n"
        "5|R|p|u|1|n1|1|NONE|(null)|5|1|0|N/A|||(null)|None|\n",
        odd);
    EXPECT_EQ(odd.text(9),
              "squeue:1: 1 fields instead of 18\n"
              "squeue:2: 'n[1-' is no list of nodes\n"
              "squeue:3: 'soon' is no time\n"
              "squeue:4: '-3' is no number\n");
    ASSERT_EQ(jobs.pending.size(), 1u);
    EXPECT_EQ(jobs.pending[0].nodes, 2048);
    EXPECT_EQ(jobs.pending[0].memory_mb, 2048);
    EXPECT_EQ(jobs.pending[0].gpus, 3);
    ASSERT_EQ(jobs.running.size(), 1u);
    EXPECT_FALSE(jobs.running[0].end);
}

TEST(SlurmView, SaysWhereJobsAreHidden) {
    ViewAnswers answers = test::recorded_answers();
    answers.jobs.clear();
    EXPECT_EQ(make_view(answers, test::recorded_at).hidden, 7u);
}

// sinfo is asked after squeue; whatever differs, a node that anybody has is not idle.
TEST(SlurmView, BelievesWhoeverSaysThatANodeIsTaken) {
    ViewAnswers answers = test::recorded_answers();
    answers.jobs += "99|CG|normal|u|1|n9|1796009760|1796010360|(null)|5|4|0|N/A|||(null)|None|a\n";
    EXPECT_EQ(make_view(answers, test::recorded_at).find("n9")->why_not, "job 99 is there");
    const ClusterView later = make_view(test::recorded_answers(), at(1796016960));
    EXPECT_EQ(later.find("n9")->why_not, "reserved by maint");
}

TEST(SlurmView, TakesVariablesAwayThatFilterAnswers) {
    EXPECT_THAT(view_commands().jobs, testing::Contains("SQUEUE_STATES"));
    EXPECT_THAT(view_commands().nodes, testing::Contains("SLURM_TIME_FORMAT=%s"));
}

// Whatever the bytes: no exception, and a forecast of nodes that are idle.
TEST(Fuzz, DamagedAnswersAreRead) {
    const ViewAnswers recorded = test::recorded_answers();
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        CounterRandom random(seed);
        ViewAnswers answers = recorded;
        std::string& text = seed % 3 == 0   ? answers.jobs
                            : seed % 3 == 1 ? answers.nodes
                                            : answers.reservations;
        for (std::uint64_t i = 0, edits = 1 + random.below(12); i < edits; ++i) {
            const std::string pieces[] = {"-",
                                          "9999999999999999999",
                                          "\n",
                                          "|",
                                          ",",
                                          "[",
                                          "n[1-9]",
                                          "(null)",
                                          "N/A",
                                          "1e9",
                                          std::string(1, '\0'),
                                          std::string(1, static_cast<char>(random.below(256)))};
            text.replace(random.below(text.size()), random.below(6), pieces[random.below(std::size(pieces))]);
        }
        const ClusterView view = make_view(answers, test::recorded_at);
        for (const NodeForecast& node : forecast_idle(view)) {
            ASSERT_NE(view.find(node.node), nullptr) << "seed " << seed;
            ASSERT_TRUE(!node.until || *node.until >= view.time) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace mastic::schedule
