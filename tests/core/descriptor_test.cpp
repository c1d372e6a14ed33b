#include <mastic/core/descriptor.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>

namespace mastic {
namespace {

int open_something() {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}
bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

TEST(Descriptor, ClosesWhatItOwns) {
    const int value = open_something();
    {
        const Descriptor owner(value);
        EXPECT_TRUE(owner.valid());
        EXPECT_TRUE(is_open(value));
    }
    EXPECT_FALSE(is_open(value));
}

TEST(Descriptor, HandsOverWhenMoved) {
    Descriptor first(open_something());
    const int value = first.get();
    Descriptor second(open_something());
    const int replaced = second.get();
    second = std::move(first);
    EXPECT_EQ(second.get(), value);
    EXPECT_TRUE(is_open(value));
    EXPECT_FALSE(is_open(replaced));
    EXPECT_EQ(second.release(), value);
    EXPECT_TRUE(is_open(value));
    EXPECT_EQ(Descriptor(value).close(), 0);
}

TEST(Descriptor, ReportsAFailedClose) {
    const int value = open_something();
    Descriptor first(value);
    Descriptor second(value);
    EXPECT_EQ(first.close(), 0);
    EXPECT_EQ(second.close(), EBADF);
    EXPECT_EQ(second.close(), 0) << "a closed descriptor is not closed again";
}

}  // namespace
}  // namespace mastic
