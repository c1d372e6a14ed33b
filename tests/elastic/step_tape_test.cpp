#include <gtest/gtest.h>

#include <array>

#include <mastic/elastic/app/step_tape.hpp>

#include "support/expect_error.hpp"

namespace mastic::app {
namespace {

template <class T, std::size_t N>
std::span<std::byte> bytes_of(std::array<T, N>& values) {
    return std::as_writable_bytes(std::span(values));
}

std::vector<std::byte> record_two(std::array<double, 3> first, std::array<int, 1> second) {
    StepTape tape;
    tape.record(4);
    tape.pass(bytes_of(first));
    tape.pass(bytes_of(second));
    EXPECT_EQ(first, (std::array{1.0, 2.0, 3.0})) << "recording changes nothing";
    return tape.take();
}

TEST(StepTape, PlaysTheResultsInTheirOrder) {
    const auto recorded = record_two({1, 2, 3}, {4});
    StepTape tape;
    EXPECT_EQ(tape.play(recorded), 4);
    std::array<double, 3> first{};
    std::array<int, 1> second{};
    tape.pass(bytes_of(first));
    EXPECT_FALSE(tape.at_end());
    tape.pass(bytes_of(second));
    EXPECT_TRUE(tape.at_end());
    EXPECT_EQ(first, (std::array{1.0, 2.0, 3.0}));
    EXPECT_EQ(second, std::array{4});
}

TEST(StepTape, AStepWithOtherCollectivesIsRefused) {
    const auto recorded = record_two({1, 2, 3}, {4});
    StepTape tape;
    std::array<double, 2> smaller{};
    tape.play(recorded);
    test::expect_error(ExitCode::collective, "other collectives", [&] { tape.pass(bytes_of(smaller)); });
    std::array<double, 3> first{};
    std::array<int, 1> second{};
    tape.play(recorded);
    tape.pass(bytes_of(first));
    tape.pass(bytes_of(second));
    test::expect_error(ExitCode::collective, "other collectives", [&] { tape.pass(bytes_of(second)); });
}

TEST(StepTape, DoesNothingOutsideOfSteps) {
    StepTape tape;
    std::array values = {1.5};
    tape.pass(bytes_of(values));
    EXPECT_FALSE(tape.replays());
    EXPECT_TRUE(tape.take().empty());
}

}  // namespace
}  // namespace mastic::app
