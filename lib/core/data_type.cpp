#include <mastic/core/data_type.hpp>

#include <array>
#include <string>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic {
namespace {

struct Row {
    DataType type;
    const char* name;
    std::size_t size;  // bytes
};
// In the order of the enumeration.
constexpr std::array<Row, 10> rows{{{DataType::float32, "float32", 4},
                                    {DataType::float64, "float64", 8},
                                    {DataType::float16, "float16", 2},
                                    {DataType::bfloat16, "bfloat16", 2},
                                    {DataType::int8, "int8", 1},
                                    {DataType::uint8, "uint8", 1},
                                    {DataType::int16, "int16", 2},
                                    {DataType::int32, "int32", 4},
                                    {DataType::int64, "int64", 8},
                                    {DataType::boolean, "bool", 1}}};

const Row& row_of(DataType type) {
    return rows.at(static_cast<std::size_t>(type));
}

}  // namespace

std::size_t size_of(DataType type) {
    return row_of(type).size;
}

const char* to_string(DataType type) {
    return row_of(type).name;
}

DataType parse_data_type(std::string_view name) {
    std::vector<std::string> names;
    for (const auto& row : rows) {
        if (name == row.name) {
            return row.type;
        }
        names.emplace_back(row.name);
    }
    const auto nearest = nearest_word(name, names);
    std::string known;
    for (const auto& known_name : names) {
        known += (known.empty() ? "" : ", ") + known_name;
    }
    throw Error(ExitCode::data, "unknown element type \"" + std::string(name) + "\"",
                nearest.empty() ? "known types are " + known : "did you mean \"" + nearest + "\"?");
}

}  // namespace mastic
