// Our readers of Slurm's texts against Slurm itself.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>

#include <mastic/core/duration.hpp>
#include <mastic/core/error.hpp>
#include <mastic/job/deadline.hpp>
#include <mastic/job/host_list.hpp>

#include "cluster/slurm_cluster.hpp"

namespace mastic::test {
namespace {

ClusterEnvironment* const environment = ClusterEnvironment::add({.nodes = 1});

class SlurmGrammar : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }
    SlurmCluster& cluster = environment->cluster();
};

Arguments words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// As reported in ignite 2208.
TEST_F(SlurmGrammar, HostListsExpandAsByScontrol) {
    for (const char* list : {"node[01-03,07],gpu-[1-2]n[3-4]",
                             "a",
                             "a,b.example.org,c_1",
                             "n[8-11]",
                             "n[08-11]",
                             "n[098-101]",
                             "n[99-101]",
                             "n[0-1]",
                             "n[3,1,3]",
                             "n[1-2,9]",
                             "rack[0-1]node[00-02]",
                             "n[007]",
                             "n1,n1",
                             "x[1-2]y[3]",
                             "n[10,9-11]",
                             "n[00-1]",
                             "a[1-2][3-4]",
                             "n[0,00,000]",
                             "0",
                             "0[1-2]"}) {
        EXPECT_EQ(job::expand_host_list(list),
                  words_of(cluster.output_of({"scontrol", "show", "hostnames", list})))
            << list;
    }
}

// We refuse more: scontrol takes "node[1-]" for node1, and makes "node]" of a bracket that is never closed.
TEST_F(SlurmGrammar, HostListsThatScontrolRefusesAreRefused) {
    for (const char* list : {"node[]", "node[1,]", "node[a-b]", "node[1;2]", "node[5-3]", "n[1-65537]"}) {
        EXPECT_EQ(cluster.run({"scontrol", "show", "hostnames", list}).output, "") << list;
        EXPECT_THROW(job::expand_host_list(list), Error) << list;
    }
}

TEST_F(SlurmGrammar, CompressedHostListsExpandByScontrolToTheSame) {
    for (const Arguments& hosts :
         {Arguments{"node01", "node02", "node03", "node07", "login"}, Arguments{"n8", "n9", "n10", "n11"},
          Arguments{"n9", "n010"}, Arguments{"b1", "a1", "a2", "b2"},
          Arguments{"gpu-1n3", "gpu-1n4", "gpu-2n3"}}) {
        const std::string list = job::compress_host_list(hosts);
        EXPECT_EQ(words_of(cluster.output_of({"scontrol", "show", "hostnames", list})), hosts) << list;
    }
}

// As reported in spur 804. Slurm keeps whole minutes, rounded up.
TEST_F(SlurmGrammar, TimesAreReadAsBySbatch) {
    for (const char* text :
         {"1",         "90",   "4:00",    "4:05",       "0:30",      "90:00", "1:30:00",   "00:00:01",
          "2-12",      "1-0",  "1-12:30", "1-12:00:00", "0-0:0:7",   "0",     "UNLIMITED", "INFINITE",
          "unlimited", "0:00", "0-0",     "00:00:00",   "100:00:00", "1-25",  "3-0:90",    "1:2:61"}) {
        const std::string job = cluster.submit("#!/bin/sh\n", {"--hold", "-t", text});
        const std::string limit = cluster.show(job)["TimeLimit"];
        const auto ours = parse_slurm_time(text);
        const auto slurms = parse_slurm_time(limit);
        ASSERT_EQ(ours.has_value(), slurms.has_value()) << text << " is " << limit;
        if (ours) {
            EXPECT_EQ(std::ceil(ours->count() / 60) * 60, slurms->count()) << text << " is " << limit;
        }
    }
}

// sbatch takes "1-" and "-1" too; we do not.
TEST_F(SlurmGrammar, TimesThatSbatchRefusesAreRefused) {
    for (const char* text :
         {"abc", "1:2:3:4", "1-2:3:4:5", "4:", ":4", "1:2x", "1::2", "+4", "1.5", "4 00"}) {
        EXPECT_NE(cluster.run({"sbatch", "-t", text, "--test-only", "--wrap", "true"}).exit_code, 0) << text;
        EXPECT_THROW(parse_slurm_time(text), Error) << text;
    }
}

class SlurmEndTime : public SlurmGrammar {
  protected:
    std::string running_job(const Arguments& options = {}) {
        const std::string job = cluster.submit("#!/bin/sh\nsleep 1000\n", options);
        cluster.wait_state(job, {"RUNNING"});
        return job;
    }

    job::EndTime end_of(const std::string& job, const CommandRunner& run) {
        return job::find_end_time(
            job, [](const std::string&) { return std::nullopt; }, run);
    }
};

TEST_F(SlurmEndTime, ComesFromSqueueOnANode) {
    const auto before = std::chrono::system_clock::now();
    const job::EndTime end = end_of(running_job({"-t", "7"}), cluster.runner("n1"));
    ASSERT_TRUE(end.at) << end.source;
    EXPECT_EQ(end.source, "squeue");
    EXPECT_GE(*end.at, before + std::chrono::minutes(7) - std::chrono::seconds(1));
    EXPECT_LE(*end.at, std::chrono::system_clock::now() + std::chrono::minutes(7));
}

TEST_F(SlurmEndTime, IsTheSameFromScontrol) {
    const std::string job = running_job({"-t", "7"});
    const CommandRunner without_squeue = [&](Arguments command, Seconds timeout) {
        std::ranges::replace(command, std::string("squeue"), std::string("no-such-program"));
        return cluster.run_on("n1", command, timeout);
    };
    const job::EndTime end = end_of(job, without_squeue);
    EXPECT_EQ(end.source, "scontrol");
    EXPECT_EQ(end.at, end_of(job, cluster.runner()).at);
}

TEST_F(SlurmEndTime, OfAJobWithoutLimitIsNone) {
    const job::EndTime end = end_of(running_job({"-t", "0"}), cluster.runner());
    EXPECT_EQ(end.at, std::nullopt);
    EXPECT_EQ(end.source, "no time limit, says squeue");
    const CommandRunner without_squeue = [&](Arguments command, Seconds timeout) {
        std::ranges::replace(command, std::string("squeue"), std::string("no-such-program"));
        return cluster.run(command, timeout);
    };
    const job::EndTime by_scontrol = end_of(running_job({"-t", "0"}), without_squeue);
    EXPECT_EQ(by_scontrol.at, std::nullopt) << by_scontrol.source;
}

TEST_F(SlurmEndTime, FollowsAChangedLimit) {
    const std::string job = running_job({"-t", "7"});
    const job::EndTime before = end_of(job, cluster.runner());
    cluster.output_of({"scontrol", "update", "JobId=" + job, "TimeLimit=9"});
    ASSERT_TRUE(before.at);
    EXPECT_EQ(end_of(job, cluster.runner()).at, *before.at + std::chrono::minutes(2));
}

TEST_F(SlurmEndTime, OfAJobThatSlurmDoesNotKnowIsToldInTheSource) {
    const job::EndTime end = end_of("999999", cluster.runner());
    EXPECT_EQ(end.at, std::nullopt);
    EXPECT_THAT(end.source, testing::HasSubstr("Invalid job id"));
}

TEST_F(SlurmEndTime, DoesNotDependOnTheUsersTimeFormat) {
    const std::string job = running_job({"-t", "7"});
    const CommandRunner with_format = [&](Arguments command, Seconds timeout) {
        command.insert(command.begin(), {"env", "SLURM_TIME_FORMAT=relative"});
        return cluster.run(command, timeout);
    };
    EXPECT_EQ(end_of(job, with_format).at, end_of(job, cluster.runner()).at);
}

}  // namespace
}  // namespace mastic::test
