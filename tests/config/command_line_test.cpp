#include <gmock/gmock.h>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(CommandLine, reads_every_type) {
    Demo demo;
    demo.parse({"--train.epochs=3",
                "--train.seed",
                "-9223372036854775808",
                "--optimizer.rate",
                "1e-3",
                "--optimizer.name",
                "adamw",
                "--allreduce.bucket-size",
                "1.5M",
                "--checkpoint.interval",
                "1:30:00",
                "--train.tags",
                "a, b",
                "--model.layers",
                "64,32",
                "--model.layers=10",
                "--train.max_steps=7",
                "--data.shuffle=false",
                "--data.path",
                "with blank.idx"});
    const DemoOptions& got = demo.options;
    EXPECT_EQ(got.epochs, 3);
    EXPECT_EQ(got.seed, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(got.rate, 1e-3);
    EXPECT_EQ(got.optimizer, "adamw");
    EXPECT_EQ(got.bucket, Bytes{1536u << 10});
    EXPECT_EQ(got.interval, Seconds(5400));
    EXPECT_THAT(got.tags, ElementsAre("a", "b"));
    EXPECT_THAT(got.layers, ElementsAre(64, 32, 10));
    EXPECT_EQ(got.max_steps, 7);
    EXPECT_FALSE(got.shuffle);
    EXPECT_EQ(got.data, "with blank.idx");
}

TEST(CommandLine, a_switch_alone_is_true_and_takes_no_word) {
    const TempDir dir;
    const std::string file = dir.write("run.toml", "[data]\nshuffle = false\n");
    Demo demo;
    const Invocation call = demo.parse({"--data.shuffle", file, "--fork"});
    EXPECT_TRUE(demo.options.shuffle);
    EXPECT_EQ(call.config_file, file);
    EXPECT_THAT(call.switches, ElementsAre("fork"));
}

TEST(CommandLine, the_last_of_repeated_scalars_counts) {
    Demo demo;
    const Invocation call = demo.parse({"--train.epochs", "3", "--fork", "--train.epochs=4", "--fork=false"});
    EXPECT_EQ(demo.options.epochs, 4);
    EXPECT_THAT(call.switches, IsEmpty());
}

TEST(CommandLine, empty_values_are_values) {
    const TempDir dir;
    const std::string file = dir.write("run.toml", "[train]\nepochs = 5\ntags = [\"x\"]\n");
    Demo demo;
    demo.parse({"--data.path=", file, "--train.tags", "", "--resume="});
    EXPECT_EQ(demo.options.data, "");
    EXPECT_EQ(demo.options.resume, "");
    EXPECT_EQ(demo.options.epochs, 5);
    EXPECT_THAT(demo.options.tags, IsEmpty());
}

TEST(CommandLine, values_keep_brackets_quotes_and_equals_signs) {
    Demo demo;
    for (const std::string text : {"[a]", "[a,b]", "\"quoted\"", "a=b", "{}", "%%", "it's"}) {
        demo.parse({"--data.path=" + text, "--resume", text});
        EXPECT_EQ(demo.options.data, text);
        EXPECT_EQ(demo.options.resume, text);
    }
}

TEST(CommandLine, an_optional_can_be_unset_again) {
    Demo demo;
    demo.parse({"--train.max_steps=none"}, {{"MASTIC_TRAIN_MAX_STEPS", "5"}});
    EXPECT_EQ(demo.options.max_steps, std::nullopt);
}

TEST(CommandLine, standard_flags_are_read) {
    Demo demo;
    const Invocation call = demo.parse({"--dry-run", "--print-config", "--json"});
    EXPECT_TRUE(call.dry_run && call.print_config && call.json);
    EXPECT_FALSE(call.help || call.version);
    EXPECT_EQ(Demo().parse({"--generate", "man"}).generate, "man");
    EXPECT_TRUE(Demo().parse({"-h"}).help);
}

TEST(CommandLine, help_and_version_ignore_what_is_broken_elsewhere) {
    const Variables broken = {{"MASTIC_TRAIN_EPOCHS", "x"}};
    EXPECT_TRUE(Demo().parse({"missing.toml", "--help", "--nonsense"}, broken).help);
    EXPECT_TRUE(Demo().parse({"missing.toml", "--version"}, broken).version);
}

TEST(CommandLine, commands_take_their_arguments) {
    Demo demo;
    const Invocation status = demo.parse({"--train.epochs", "3", "status", "runs/a"});
    EXPECT_EQ(status.command, "status");
    EXPECT_THAT(status.positionals, ElementsAre("runs/a"));
    const Invocation compare = demo.parse({"compare", "a", "--json", "b.toml", "c"});
    EXPECT_EQ(compare.command, "compare");
    EXPECT_THAT(compare.positionals, ElementsAre("a", "b.toml", "c"));
    EXPECT_EQ(compare.config_file, "");
    EXPECT_TRUE(compare.json);
    EXPECT_THAT(demo.parse({"compare", "--", "--odd-name"}).positionals, ElementsAre("--odd-name"));
}

TEST(CommandLine, a_command_can_take_a_configuration_too) {
    const TempDir dir;
    const std::string file = dir.write("run.toml", "[train]\nepochs = 5\n");
    for (const auto& words : {std::vector<std::string>{"evaluate", file, "runs/a"},
                              std::vector<std::string>{"evaluate", "runs/a", "--config", file}}) {
        Demo demo;
        const Invocation call = demo.parse(words);
        EXPECT_EQ(call.config_file, file);
        EXPECT_THAT(call.positionals, ElementsAre("runs/a"));
        EXPECT_EQ(demo.options.epochs, 5);
    }
}

struct WrongCall {
    std::vector<std::string> words;
    std::string message;
};

class WrongCommandLine : public ::testing::TestWithParam<WrongCall> {};

TEST_P(WrongCommandLine, is_refused_with_a_reason) {
    Demo demo;
    EXPECT_THAT(demo.error_of(GetParam().words), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongCommandLine,
    ::testing::Values(
        WrongCall{{"--train.epochs", "12abc"}, "--train.epochs: '12abc' is not an integer"},
        WrongCall{{"--train.epochs", "0x10"}, "'0x10' is not an integer"},
        WrongCall{{"--train.epochs", "3.0"}, "'3.0' is not an integer"},
        WrongCall{{"--train.epochs", ""}, "'' is not an integer"},
        WrongCall{{"--train.epochs", "4294967297"}, "does not fit into 32 bits"},
        WrongCall{{"--train.epochs", "0"}, "'0' is out of range: it must be 1 to 1000"},
        WrongCall{{"--train.max_steps", "0"}, "it must be at least 1"},
        WrongCall{{"--optimizer.rate", "0"}, "'0.0' is out of range: it must be above 0.0"},
        WrongCall{{"--optimizer.rate", "nan"}, "'nan' is not a number"},
        WrongCall{{"--optimizer.rate", "0,1"}, "'0,1' is not a number"},
        WrongCall{{"--optimizer.rate", "1e999"}, "beyond the range"},
        WrongCall{{"--optimizer.milestones", "0.5,2"}, "'2.0' is out of range: it must be 0.0 to 1.0"},
        WrongCall{{"--optimizer.name", "sdg"},
                  "--optimizer.name: 'sdg' is not one of sgd, adamw; did you mean 'sgd'?"},
        WrongCall{{"--allreduce.bucket-size", "25X"}, "--allreduce.bucket-size: \"25X\" is not a size"},
        WrongCall{{"--checkpoint.interval", "soon"}, "\"soon\" is not a time"},
        WrongCall{{"--data.shuffle=maybe"}, "--data.shuffle: 'maybe' is neither true nor false"},
        WrongCall{{"--data.path", "x.bad"}, "--data.path: x.bad is bad"},
        WrongCall{{"--data.path", "\xff"}, "'?' is not valid UTF-8"},
        WrongCall{{"--train.epoch", "3"}, "--train.epoch: unknown option; did you mean '--train.epochs'?"},
        WrongCall{{"--dryrun"}, "did you mean '--dry-run'?"},
        WrongCall{{"--epochs=3"}, "--epochs: unknown option"},
        WrongCall{{"--optimizer.seed", "3"}, "did you mean '--train.seed'?"},
        WrongCall{{"--optimizer.momentum", "3"}, "--optimizer.momentum: unknown option\n"},
        WrongCall{{"-train.epochs", "3"}, "did you mean '--train.epochs'?"},
        WrongCall{{"-x"}, "-x: unknown option"},
        WrongCall{{"--train.epochs"}, "--train.epochs: a value is missing"},
        WrongCall{{"--data.path", "--fork"}, "--data.path: a value is missing"},
        WrongCall{{"--generate", "html"}, "'html' is not one of man, bash-completion"},
        WrongCall{{"statsu", "runs/a"}, "statsu: neither a command nor a .toml file; did you mean 'status'?"},
        WrongCall{{"status"}, "mastic-demo status: RUN_DIR is missing: the run's directory"},
        WrongCall{{"status", "a", "b"}, "b: unexpected argument"},
        WrongCall{{"--data.shuffle", "false"}, "a switch takes its value behind '='"},
        WrongCall{{"a.toml", "--config", "b.toml"}, "given by --config already"},
        WrongCall{{"missing.toml"}, "missing.toml"}, WrongCall{{"--config", "/"}, "/"}));

TEST(CommandLine, all_mistakes_are_reported_at_once) {
    Demo demo;
    const std::string message = demo.error_of(
        {"--train.epochs", "x", "--optimizer.nam", "sgd", "--fork=perhaps"}, {{"MASTIC_TRAIN_SEED", "y"}});
    EXPECT_THAT(message, AllOf(HasSubstr("--train.epochs: 'x'"), HasSubstr("--optimizer.nam: unknown"),
                               HasSubstr("MASTIC_TRAIN_SEED: 'y'"), HasSubstr("--fork: 'perhaps'")));
    EXPECT_THAT(message, Not(HasSubstr("sgd:")));
    EXPECT_THAT(message, HasSubstr("hint: `mastic-demo --help-all` lists all options"));
}

}  // namespace
}  // namespace mastic::config::test
