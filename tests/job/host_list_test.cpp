#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/caret.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/random.hpp>
#include <mastic/job/host_list.hpp>

#include "support/expect_error.hpp"

namespace mastic::job {
namespace {

using Hosts = std::vector<std::string>;

TEST(HostList, ExpandsAsSlurmDoes) {
    const struct {
        const char* text;
        Hosts hosts;
    } cases[] = {
        {"node[01-03,07],gpu-[1-2]n[3-4]",
         {"node01", "node02", "node03", "node07", "gpu-1n3", "gpu-1n4", "gpu-2n3", "gpu-2n4"}},
        {"a", {"a"}},
        {"a,b.example.org,c_1", {"a", "b.example.org", "c_1"}},
        {"n[8-11]", {"n8", "n9", "n10", "n11"}},
        {"n[08-11]", {"n08", "n09", "n10", "n11"}},
        {"n[098-101]", {"n098", "n099", "n100", "n101"}},
        {"n[3,1,3]y[07]", {"n3y07", "n1y07", "n3y07"}},
        {"n[0-1]", {"n0", "n1"}},
        {"n[3,1,3]", {"n3", "n1", "n3"}},
        {"[1-2]", {"1", "2"}},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(expand_host_list(c.text), c.hosts) << c.text;
    }
}

TEST(HostList, AllowsANameAfterTheLastGroupAlthoughSlurmDoesNot) {
    EXPECT_EQ(expand_host_list("n[99-101]x"), (Hosts{"n99x", "n100x", "n101x"}));
}

TEST(HostList, RefusesWithACaretUnderTheFirstWrongCharacter) {
    const struct {
        const char* text;
        std::size_t column;
        const char* reason;
    } cases[] = {
        {"", 0, "a host name is missing"},
        {"a,", 2, "a host name is missing"},
        {"a,,b", 2, "cannot begin here"},
        {",a", 0, "cannot begin here"},
        {"node[01-03", 4, "never closed"},
        {"node[", 4, "never closed"},
        {"node[1,", 4, "never closed"},
        {"node]", 4, "cannot be part of a host name"},
        {"a b", 1, "cannot be part of a host name"},
        {"node[]", 5, "expected a number"},
        {"node[1,]", 7, "expected a number"},
        {"node[1-]", 7, "expected a number"},
        {"node[a-b]", 5, "expected a number"},
        {"node[1;2]", 6, "expected ',' or ']'"},
        {"node[5-3]", 7, "ends before it begins"},
        {"node[1234567890123456789]", 5, "too long"},
    };
    for (const auto& c : cases) {
        try {
            expand_host_list(c.text);
            ADD_FAILURE() << "accepted: " << c.text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage) << c.text;
            EXPECT_THAT(error.what(), testing::HasSubstr(c.reason)) << c.text;
            EXPECT_THAT(error.what(), testing::EndsWith(with_caret(c.text, c.column))) << c.text;
        }
    }
}

TEST(HostList, RefusesMoreHostsThanSlurmDoes) {
    EXPECT_EQ(expand_host_list("n[1-65536]").size(), 65536u);
    for (const char* huge : {"n[1-65537]", "n[1-999999999999999999]", "n[1-1000]m[1-1000]", "a,n[1-65536]"}) {
        test::expect_error(ExitCode::usage, "more than 65536 hosts", [&] { expand_host_list(huge); });
    }
}

TEST(HostList, CompressesNeighbours) {
    const struct {
        Hosts hosts;
        const char* text;
    } cases[] = {
        {{}, ""},
        {{"a"}, "a"},
        {{"node01", "node02", "node03", "node07", "login"}, "node[01-03,07],login"},
        {{"n8", "n9", "n10", "n11"}, "n[8-11]"},
        {{"n08", "n09", "n10"}, "n[08-10]"},
        {{"n9", "n010"}, "n[9,010]"},
        {{"b1", "a1", "a2", "b2"}, "b1,a[1-2],b2"},
        {{"a", "a", "1", "2"}, "a,a,[1-2]"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(compress_host_list(c.hosts), c.text);
    }
}

TEST(HostList, ExpandsWhatItCompressedToTheSameList) {
    CounterRandom random(7);
    const Hosts prefixes = {"n", "gpu-1n", "x0", ""};
    for (int round = 0; round < 500; ++round) {
        Hosts hosts;
        for (auto left = 1 + random.below(30); left > 0; --left) {
            auto number = std::to_string(random.below(random.below(2) == 0 ? 12 : 110));
            if (random.below(3) == 0) {
                number.insert(0, "0");
            }
            hosts.push_back(prefixes[random.below(prefixes.size())] + number);
        }
        const auto text = compress_host_list(hosts);
        ASSERT_EQ(expand_host_list(text), hosts) << text;
    }
}

}  // namespace
}  // namespace mastic::job
