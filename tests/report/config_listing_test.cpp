#include <mastic/report/config_listing.hpp>

#include <gtest/gtest.h>

namespace mastic::report {
namespace {

TEST(ConfigListing, ReadsSectionsValuesAndOrigins) {
    const auto lines =
        config_listing("# all\ntop = 1\r\n[train]\nbatch = 128  # flag\nname = \"a # b\"  # file.toml:3\n");
    ASSERT_TRUE(lines);
    ASSERT_EQ(lines->size(), 3u);
    EXPECT_EQ((*lines)[0].key, "top");
    EXPECT_EQ((*lines)[1].key, "train.batch");
    EXPECT_EQ((*lines)[1].value, "128");
    EXPECT_EQ((*lines)[1].comment, "flag");
    EXPECT_EQ((*lines)[2].value, "a # b");
    EXPECT_EQ((*lines)[2].comment, "file.toml:3");
}

TEST(ConfigListing, KeepsEscapesAndListsAsTheyStand) {
    const auto lines = config_listing("a = \"x\\\"#y\"\nb = ['p', 'q']\n");
    ASSERT_TRUE(lines);
    EXPECT_EQ((*lines)[0].value, "\"x\\\"#y\"");
    EXPECT_EQ((*lines)[1].value, "['p', 'q']");
}

TEST(ConfigListing, GivesUpOnWhatItDoesNotKnow) {
    EXPECT_FALSE(config_listing("a = [\n 1,\n]\n"));
    EXPECT_TRUE(config_listing("")->empty());
}

}  // namespace
}  // namespace mastic::report
