#include <mastic/core/caret.hpp>

#include <gtest/gtest.h>

namespace mastic {
namespace {

TEST(WithCaret, PointsAtTheCharacter) {
    EXPECT_EQ(with_caret("1:2x", 3), "\n    1:2x\n       ^");
    EXPECT_EQ(with_caret("x", 0), "\n    x\n    ^");
}

TEST(WithCaret, PointsBehindTheEndAtMost) {
    EXPECT_EQ(with_caret("ab", 2), "\n    ab\n      ^");
    EXPECT_EQ(with_caret("ab", 99), "\n    ab\n      ^");
    EXPECT_EQ(with_caret("", 0), "\n    \n    ^");
}

TEST(WithCaret, KeepsColumnsOfTextWithTabsAndLineBreaks) {
    EXPECT_EQ(with_caret("a\tb\nc", 4), "\n    a b c\n        ^");
}

}  // namespace
}  // namespace mastic
