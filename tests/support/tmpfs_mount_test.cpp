#include "support/tmpfs_mount.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace mastic::test {
namespace {

TEST(TmpfsMount, IsAsSmallAsAskedAndGoneAfterwards) {
    std::filesystem::path path;
    {
        TmpfsMount disk(Bytes{65536});
        if (!disk.mounted()) {
            GTEST_SKIP() << disk.reason();
        }
        path = disk.path();
        EXPECT_EQ(std::filesystem::space(path).capacity, 65536u);
        write_file(disk / "file", "x");
        EXPECT_THROW(write_file(disk / "big", std::string(100'000, 'x')), std::runtime_error);
        disk.make_read_only();
        EXPECT_THROW(write_file(disk / "file", "y"), std::runtime_error);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace mastic::test
