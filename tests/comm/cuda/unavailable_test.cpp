// What a machine without a GPU, or a mastic without CUDA, says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/cuda/device.hpp>
#include <mastic/comm/cuda/version.hpp>
#include <mastic/core/error.hpp>

#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

TEST(Cuda, AGpuThatIsNotThereIsAnErrorOfTheEnvironment) {
    test::expect_error(ExitCode::environment, "hint", [] { open_cuda_device(cuda_devices()); });
}

TEST(Cuda, TheVersionNamesToolkitAndDriver) {
    EXPECT_THAT(cuda_version(),
                testing::MatchesRegex("not built in|[0-9]+\\.[0-9]+(, no driver here|, driver for .*)"));
}

}  // namespace
}  // namespace mastic::comm
