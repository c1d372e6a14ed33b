#include <gtest/gtest.h>

#include <mastic/data/csv_file.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;
using mastic::test::TempDir;

CsvTable read(const std::string& content) {
    const TempDir directory;
    return read_csv_file(directory.write("table.csv", content));
}

struct GoodTable {
    const char* name;
    std::string content;
    std::vector<std::string> header;
};

class AcceptedCsv : public ::testing::TestWithParam<GoodTable> {};

// All of these hold the rows (1, 2.5, -3) and (4, 5, 6e2).
TEST_P(AcceptedCsv, GivesTheSameNumbers) {
    const auto table = read(GetParam().content);
    EXPECT_EQ(table.header, GetParam().header);
    EXPECT_EQ(table.rows, 2u);
    EXPECT_EQ(table.columns, 3u);
    EXPECT_EQ(table.values, (std::vector<double>{1, 2.5, -3, 4, 5, 600}));
}

INSTANTIATE_TEST_SUITE_P(
    Form, AcceptedCsv,
    ::testing::Values(GoodTable{"Plain", "1,2.5,-3\n4,5,6e2\n", {}},
                      GoodTable{"NoLastLineEnd", "1,2.5,-3\n4,5,6e2", {}},
                      GoodTable{"Header", "a,b,label\n1,2.5,-3\n4,5,6e2\n", {"a", "b", "label"}},
                      GoodTable{"HalfNumericHeader", "0,1,label\n1,2.5,-3\n4,5,6e2\n", {"0", "1", "label"}},
                      GoodTable{"ByteOrderMark",
                                "\xEF\xBB\xBF"
                                "a,b,c\n1,2.5,-3\n4,5,6e2\n",
                                {"a", "b", "c"}},
                      GoodTable{"Crlf", "a,b,c\r\n1,2.5,-3\r\n4,5,6e2\r\n", {"a", "b", "c"}},
                      GoodTable{"CrOnly", "a,b,c\r1,2.5,-3\r4,5,6e2\r", {"a", "b", "c"}},
                      GoodTable{"Quotes",
                                "\"a, \"\"x\"\"\nz\",b,c\n\"1\",\"2.5\",-3\n4,5,\"6e2\"\n",
                                {"a, \"x\"\nz", "b", "c"}},
                      GoodTable{"Blanks", " a , b,c\n 1 ,2.5,\t-3\n+4, +5 ,6e2\n", {"a", "b", "c"}},
                      GoodTable{"BlankRows", "\na,b,c\n\n1,2.5,-3\n  \n4,5,6e2\n\n", {"a", "b", "c"}},
                      GoodTable{"Semicolons", "a;b;c\n1;2.5;-3\n4;5;6e2\n", {"a", "b", "c"}},
                      GoodTable{"Tabs", "1\t2.5\t-3\n4\t5\t6e2\n", {}},
                      GoodTable{"Gzip", test::gzip("1,2.5,-3\n4,5,6e2\n"), {}}),
    [](const auto& test) { return test.param.name; });

struct BadTable {
    const char* name;
    std::string content;
    const char* message;
};

class RefusedCsv : public ::testing::TestWithParam<BadTable> {};

TEST_P(RefusedCsv, NamesTheRow) {
    expect_error(ExitCode::data, GetParam().message, [] { read(GetParam().content); });
}

INSTANTIATE_TEST_SUITE_P(
    Form, RefusedCsv,
    ::testing::Values(BadTable{"RaggedShort", "a,b\n1,2\n3\n",
                               "row 3 has 1 cells, the rows before it have 2"},
                      BadTable{"RaggedLong", "1,2\n3,4\n5,6,7\n", "row 3 has 3 cells"},
                      BadTable{"RaggedAfterBlank", "a,b\r\n\r\n1,2\r\n3\r\n", "row 4 has 1 cells"},
                      BadTable{"Word", "a,b\n1,2\n3,x4\n", "row 3, column 2 ('b'): 'x4' is no number"},
                      BadTable{"WordWithoutHeader", "1,2\n3,4,\n", "row 2 has 3 cells"},
                      BadTable{"HalfANumber", "1,2\n3,4x\n", "row 2, column 2: '4x' is no number"},
                      BadTable{"EmptyCell", "a,b\n1,\n", "row 2, column 2 ('b') is empty"},
                      BadTable{"OpenQuote", "a,b\n1,\"2\n3,4\n", "row 2: a quote is not closed"},
                      BadTable{"AfterQuote", "a,b\n1,\"2\"3\n", "row 2: there is text after a closing quote"},
                      BadTable{"Empty", "", "is empty"},
                      BadTable{"WebPage", "<!doctype HTML><html>", "looks like a web page"},
                      BadTable{"Binary", std::string("1,2\n\0\1", 6), "not a known format"}),
    [](const auto& test) { return test.param.name; });

TEST(CsvFile, AColumnIsFoundByNameOrIndex) {
    const auto table = read("a,b,label\n1,2,3\n");
    EXPECT_EQ(column_index(table, "b", "t"), 1u);
    EXPECT_EQ(column_index(table, "0", "t"), 0u);
    EXPECT_EQ(column_index(table, "-1", "t"), 2u);
    EXPECT_EQ(column_index(table, "", "t"), 2u);
    expect_error(ExitCode::data, "did you mean 'label'", [&] { column_index(table, "lable", "t"); });
    expect_error(ExitCode::data, "no column '3' among the 3: a, b, label",
                 [&] { column_index(table, "3", "t"); });
    expect_error(ExitCode::data, "no column '99999999999999999999'",
                 [&] { column_index(table, "99999999999999999999", "t"); });
    expect_error(ExitCode::data, "no column '1x'", [&] { column_index(table, "1x", "t"); });
}

TEST(CsvFile, ANameWinsOverAnIndex) {
    EXPECT_EQ(column_index(read("2,1,label\n1,2,3\n"), "1", "t"), 1u);
    EXPECT_EQ(column_index(read("2,1,label\n1,2,3\n"), "2", "t"), 0u);
}

TEST(CsvFile, DamageNeverCrashes) {
    std::string content = "first,second,third\r\n";
    for (int i = 0; i < 60; ++i) {
        content += std::to_string(i) + ",\"" + std::to_string(i * 0.37) + "\",-3e-2\r\n";
    }
    EXPECT_GT(test::feed_damaged(content, 1000, read_csv_file), 300);
}

}  // namespace
}  // namespace mastic::data
