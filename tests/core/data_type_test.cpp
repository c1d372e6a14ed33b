#include <mastic/core/data_type.hpp>

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace mastic {
namespace {

TEST(DataType, HasANameAndASize) {
    const std::vector<std::tuple<DataType, std::string, std::size_t>> cases{
        {DataType::float32, "float32", 4}, {DataType::float64, "float64", 8},
        {DataType::float16, "float16", 2}, {DataType::bfloat16, "bfloat16", 2},
        {DataType::int8, "int8", 1},       {DataType::uint8, "uint8", 1},
        {DataType::int16, "int16", 2},     {DataType::int32, "int32", 4},
        {DataType::int64, "int64", 8},     {DataType::boolean, "bool", 1},
    };
    for (const auto& [type, name, size] : cases) {
        EXPECT_EQ(to_string(type), name);
        EXPECT_EQ(size_of(type), size) << name;
        EXPECT_EQ(parse_data_type(name), type) << name;
    }
}

TEST(DataType, RefusesUnknownNamesWithASuggestion) {
    test::expect_error(ExitCode::data, "did you mean \"float32\"?", [] { parse_data_type("flaot32"); });
    test::expect_error(ExitCode::data, "known types are float32, float64",
                       [] { parse_data_type("complex128"); });
    test::expect_error(ExitCode::data, "unknown element type \"\"", [] { parse_data_type(""); });
}

}  // namespace
}  // namespace mastic
