#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

TEST(TempDir, IsUniqueAndRemovedWithItsContent) {
    std::filesystem::path path;
    {
        const TempDir first;
        const TempDir second;
        EXPECT_NE(first.path(), second.path());
        path = first.path();
        EXPECT_EQ(read_text_file(first.write("a/b/file", "content")), "content");
        first.write("file", "");
        EXPECT_EQ(first.names(), (std::vector<std::string>{"a", "file"}));
        EXPECT_EQ(first / "a", path / "a");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace mastic::test
