#include <gmock/gmock.h>

#include <filesystem>

#include <mastic/config/toml_document.hpp>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string complete = R"(# everything
[train]
epochs = 3
seed = 0x10
max_steps = 1_000
tags = ["a,b", "c"]
[optimizer]
name = 'adamw'
rate = 1
milestones = [0.25, 1]
[model]
layers = [
  64,
  10,
]
[data]
path = "caf\u00e9.idx"
shuffle = false
[allreduce]
bucket-size = "64K"
[checkpoint]
interval = "10m"
)";

void expect_complete(const DemoOptions& got) {
    EXPECT_EQ(got.epochs, 3);
    EXPECT_EQ(got.seed, 16);
    EXPECT_EQ(got.max_steps, 1000);
    EXPECT_THAT(got.tags, ElementsAre("a,b", "c"));
    EXPECT_EQ(got.optimizer, "adamw");
    EXPECT_EQ(got.rate, 1.0);
    EXPECT_THAT(got.milestones, ElementsAre(0.25, 1.0));
    EXPECT_THAT(got.layers, ElementsAre(64, 10));
    EXPECT_EQ(got.data, "caf\u00e9.idx");
    EXPECT_FALSE(got.shuffle);
    EXPECT_EQ(got.bucket, Bytes{65536});
    EXPECT_EQ(got.interval, Seconds(600));
}

// Each with the same settings in another form.
class WellFormedFile : public ::testing::TestWithParam<std::pair<std::string, std::string (*)(std::string)>> {
};

TEST_P(WellFormedFile, is_read_completely) {
    const TempDir dir;
    Demo demo;
    demo.parse({dir.write("run.toml", GetParam().second(complete))});
    expect_complete(demo.options);
}

std::string with_crlf(std::string text) {
    std::string result;
    for (const char c : text) {
        result += c == '\n' ? "\r\n" : std::string(1, c);
    }
    return result;
}

INSTANTIATE_TEST_SUITE_P(
    All, WellFormedFile,
    ::testing::Values(std::pair(
                          "plain", +[](std::string text) { return text; }),
                      std::pair(
                          "byte_order_mark", +[](std::string text) { return "\xef\xbb\xbf" + text; }),
                      std::pair(
                          "crlf", +[](std::string text) { return with_crlf(text); }),
                      std::pair(
                          "both", +[](std::string text) { return "\xef\xbb\xbf" + with_crlf(text); }),
                      std::pair(
                          "no_newline_at_the_end",
                          +[](std::string text) {
                              text.pop_back();
                              return text;
                          })),
    [](const auto& test) { return test.param.first; });

TEST(TomlFile, other_spellings_of_tables_are_the_same_options) {
    const TempDir dir;
    Demo demo;
    demo.parse(
        {dir.write("run.toml", "train.epochs = 3\ntrain.seed = 4\noptimizer = { name = \"adamw\" }\n")});
    EXPECT_EQ(demo.options.epochs, 3);
    EXPECT_EQ(demo.options.seed, 4);
    EXPECT_EQ(demo.options.optimizer, "adamw");
}

TEST(TomlFile, plain_numbers_are_bytes_and_seconds_and_a_single_value_is_a_list) {
    const TempDir dir;
    Demo demo;
    demo.parse({dir.write("run.toml",
                          "allreduce.bucket-size = 1000\ncheckpoint.interval = 2.5\nmodel.layers = 7\n"
                          "train.max_steps = \"none\"\n")});
    EXPECT_EQ(demo.options.bucket, Bytes{1000});
    EXPECT_EQ(demo.options.interval, Seconds(2.5));
    EXPECT_THAT(demo.options.layers, ElementsAre(7));
    EXPECT_EQ(demo.options.max_steps, std::nullopt);
}

struct WrongFile {
    std::string name;
    std::string content;
    std::string place;  // line:column
    std::string message;
};

class WrongTomlFile : public ::testing::TestWithParam<WrongFile> {};

TEST_P(WrongTomlFile, is_refused_with_place_and_reason) {
    const TempDir dir;
    const std::string file = dir.write("run.toml", GetParam().content);
    Demo demo;
    const std::string message = demo.error_of({file});
    EXPECT_THAT(message,
                AllOf(StartsWith(file + ":" + GetParam().place + ": "), HasSubstr(GetParam().message)));
    EXPECT_THAT(message, HasSubstr("hint: "));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongTomlFile,
    ::testing::Values(
        // Not TOML (case 18).
        WrongFile{"bad_float", "[optimizer]\nrate = .1\n", "2:8", "digits on both sides"},
        WrongFile{"bad_float_end", "[optimizer]\nrate = 1.\n", "2:10", "digits on both sides"},
        WrongFile{"two_points", "[optimizer]\nrate = 1.0.0\n", "2:11", "not valid TOML"},
        WrongFile{"unit_without_quotes", "[allreduce]\nbucket-size = 25M\n", "2:17", "text in quotes"},
        WrongFile{"unterminated_string", "[data]\npath = \"a.idx\nshuffle = true\n", "2:14",
                  "close the text"},
        WrongFile{"unquoted_text", "[data]\npath = a.idx\n", "2:8", "text stands in quotes"},
        WrongFile{"open_table", "[data\npath = \"a\"\n", "1:6", "a section is written [name]"},
        WrongFile{"open_list", "[model]\nlayers = [1, 2\n", "2:16", "a list is written"},
        WrongFile{"no_value", "[train]\nepochs =\n", "2:9", "write a value"},
        WrongFile{"no_equals", "[train]\nepochs 3\n", "2:8", "key = value"},
        WrongFile{"key_twice", "[train]\nepochs = 1\nepochs = 2\n", "3:10", "appears once"},
        WrongFile{"table_twice", "[train]\n[data]\n[train]\n", "3:1", "so does a [section]"},
        WrongFile{"broken_after_crlf", "\xef\xbb\xbf[train]\r\nepochs = oops\r\n", "2:10", "not valid TOML"},
        WrongFile{"not_utf8", "[data]\npath = \"\xff\xfe\"\n", "2:8", "save the file as UTF-8"},
        WrongFile{"huge_integer", "[train]\nseed = 99999999999999999999\n", "2:28", "not representable"},
        // TOML, but not these options.
        WrongFile{"unknown_key", "[train]\nepoch = 3\n", "2:1",
                  "unknown key 'train.epoch'; did you mean 'train.epochs'?"},
        WrongFile{"wrong_section", "[optimizer]\nmomentum = 1\n  seed = 3\n", "2:1",
                  ":3:3: unknown key 'optimizer.seed'; did you mean 'train.seed'?"},
        WrongFile{"top_level", "epochs = 3\n", "1:1", "unknown key 'epochs'; did you mean 'train.epochs'?"},
        WrongFile{"unknown_section", "[trian]\nepochs = 3\n", "1:2",
                  "unknown section 'trian'; did you mean 'train'?"},
        WrongFile{"quoted_key", "\"train.epochs\" = 3\n", "1:1", "unknown key '\"train.epochs\"'"},
        WrongFile{"empty_key", "\"\" = 3\n", "1:1", "unknown key '\"\"'"},
        WrongFile{"switch_in_file", "fork = true\n", "1:1", "unknown key 'fork'"},
        WrongFile{"text_for_integer", "[train]\nepochs = \"3\"\n", "2:10",
                  "'train.epochs': \"3\" is text, not an integer"},
        WrongFile{"float_for_integer", "[train]\nepochs = 3.0\n", "2:10",
                  "3.0 is a number with a fraction, not an integer"},
        WrongFile{"integer_for_bool", "[data]\nshuffle = 1\n", "2:11", "1 is an integer, not true or false"},
        WrongFile{"integer_for_text", "[data]\npath = 1\n", "2:8", "not text in quotes"},
        WrongFile{"bool_for_time", "[checkpoint]\ninterval = true\n", "2:12", "not a time"},
        WrongFile{"negative_time", "[checkpoint]\ninterval = -1\n", "2:12", "from 0 to 285 years"},
        WrongFile{"infinite_time", "[checkpoint]\ninterval = inf\n", "2:12", "from 0 to 285 years"},
        WrongFile{"negative_size", "[allreduce]\nbucket-size = -1\n", "2:15", "is negative"},
        WrongFile{"nan", "[optimizer]\nrate = nan\n", "2:8", "nan"},
        WrongFile{"list_for_scalar", "[train]\nepochs = [1, 2]\n", "2:10", "[1, 2] is a list"},
        WrongFile{"list_of_lists", "[model]\nlayers = [[1], [2]]\n", "2:10",
                  "a list of lists cannot be its value"},
        WrongFile{"mixed_list", "[model]\nlayers = [1, \"2\"]\n", "2:10", "\"2\" is text, not an integer"},
        WrongFile{"date", "[train]\nepochs = 2024-01-01\n", "2:10", "a date or time"},
        WrongFile{"table_for_option", "[train.epochs]\n", "1:1", "a table cannot be its value"},
        WrongFile{"array_of_tables", "[[train]]\nepochs = 3\n", "1:3",
                  "'train' is a section: it is written [train]"},
        WrongFile{"value_for_section", "train = 3\n", "1:1", "'train' is a section"},
        WrongFile{"out_of_range", "[train]\nepochs = 1001\n", "2:10",
                  "'1001' is out of range: it must be 1 to 1000"},
        WrongFile{"unknown_choice", "[optimizer]\nname = \"adam\"\n", "2:8",
                  "'adam' is not one of sgd, adamw; did you mean 'adamw'?"},
        WrongFile{"failed_check", "[data]\npath = \"x.bad\"\n", "2:8", "'data.path': x.bad is bad"},
        WrongFile{"nul_in_text", "[data]\npath = \"a\\u0000b\"\n", "2:8", "NUL"}),
    [](const auto& test) { return test.param.name; });

TEST(TomlFile, all_mistakes_are_reported_in_the_order_of_the_file) {
    const TempDir dir;
    const std::string file =
        dir.write("run.toml", "[zeta]\na = 1\nb = 2\n[train]\nseed = true\nepochs = 0\n");
    Demo demo;
    const std::string message = demo.error_of({file});
    const auto first = message.find(":1:2: unknown section 'zeta'");
    const auto second = message.find(":5:8: 'train.seed': true is a truth value");
    const auto third = message.find(":6:10: 'train.epochs': '0' is out of range");
    EXPECT_TRUE(first < second && second < third && third != std::string::npos) << message;
    EXPECT_EQ(message.find("zeta.a"), std::string::npos) << "one message is enough for an unknown section";
}

TEST(TomlFile, a_syntax_error_shows_the_line_and_a_caret) {
    const TempDir dir;
    Demo demo;
    EXPECT_THAT(demo.error_of({dir.write("run.toml", "[train]\nepochs = oops\n")}),
                HasSubstr("\n    epochs = oops\n             ^"));
}

TEST(TomlFile, deep_nesting_is_refused_without_harm) {
    EXPECT_THROW(read_toml("a = " + std::string(100'000, '['), "deep.toml"), Error);
    std::string dotted = "a";
    for (int i = 0; i < 1'000; ++i) {
        dotted += ".a";
    }
    const TempDir dir;
    Demo demo;
    EXPECT_THAT(demo.error_of({dir.write("run.toml", dotted + " = 1\n")}),
                HasSubstr(":1:65: tables are nested too deeply"));
}

}  // namespace
}  // namespace mastic::config::test
