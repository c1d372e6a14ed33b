#include <mastic/report/text_table.hpp>

#include <gtest/gtest.h>

namespace mastic::report {
namespace {

TEST(TextTable, SetsNumbersToTheRightAndWordsToTheLeft) {
    const TextTable table{{"run", "loss"}, {{"long name", "0.5"}, {"b", "12.25"}}};
    EXPECT_EQ(to_text(table),
              "run         loss\n"
              "long name    0.5\n"
              "b          12.25\n");
}

TEST(TextTable, LeavesNoBlanksAtTheEndAndFillsShortRows) {
    const TextTable table{{"a", "b"}, {{"x"}, {"y", "word"}}};
    EXPECT_EQ(to_text(table), "a  b\nx\ny  word\n");
}

TEST(TextTable, AlignsByCharacters) {
    const TextTable table{{"", ""}, {{"Größe", "x"}, {"Rest", "y"}}};
    EXPECT_EQ(to_text(table), "\nGröße  x\nRest   y\n");
}

}  // namespace
}  // namespace mastic::report
