#include <mastic/report/utf8.hpp>

#include <gtest/gtest.h>

namespace mastic::report {
namespace {

TEST(Utf8, CountsCharactersNotBytes) {
    EXPECT_EQ(character_count(""), 0u);
    EXPECT_EQ(character_count("abc"), 3u);
    EXPECT_EQ(character_count("Größe ━ 𝛼"), 9u);
    EXPECT_EQ(character_count("\xff\xfe"), 2u);
}

TEST(Utf8, ReplacesWhatIsNotValid) {
    EXPECT_EQ(valid_utf8("Größe\t\n"), "Größe\t\n");
    EXPECT_EQ(valid_utf8("a\x01z"), "a\uFFFDz");
    EXPECT_EQ(valid_utf8("a\xc3"), "a\uFFFD");                    // torn
    EXPECT_EQ(valid_utf8("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong '/'
    EXPECT_EQ(valid_utf8("\xe0\x80\xaf"), "\uFFFD\uFFFD\uFFFD");  // overlong '/'
    EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
    EXPECT_EQ(valid_utf8("\xf5\x80\x80\x80z").substr(12), "z");   // above U+10FFFF
}

TEST(Utf8, ShortensBetweenCharacters) {
    EXPECT_EQ(shortened("Größe", 5), "Größe");
    EXPECT_EQ(shortened("Größe", 4), "Grö…");
    EXPECT_EQ(shortened("abc", 1), "…");
    EXPECT_EQ(shortened("abc", 0), "");
}

}  // namespace
}  // namespace mastic::report
