#include <gmock/gmock.h>

#include <sstream>

#include <mastic/config/help.hpp>
#include <mastic/config/man_page.hpp>
#include <mastic/core/command.hpp>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Help, the_short_form_shows_commands_and_usual_options) {
    const Demo demo;
    const std::string text = help_text(demo_program(), demo.schema, false);
    EXPECT_THAT(text, HasSubstr("mastic-demo 1.2.3: shows what options can do"));
    EXPECT_THAT(text, HasSubstr("usage: mastic-demo [COMMAND] [CONFIG.toml]"));
    EXPECT_THAT(text, HasSubstr("  status RUN_DIR"));
    EXPECT_THAT(text, HasSubstr("  compare RUN_DIR..."));
    EXPECT_THAT(text,
                HasSubstr("optimizer: the update rule\n"
                          "  --optimizer.name TEXT       which one (one of sgd, adamw; default sgd)\n"));
    EXPECT_THAT(text,
                HasSubstr("  --train.epochs INT          passes over the training data (1 to 1000; default\n"
                          "                              10)\n"));
    EXPECT_THAT(text, HasSubstr("--data.path FILE"));
    EXPECT_THAT(text, HasSubstr("--model.layers INT,..."));
    EXPECT_THAT(text, HasSubstr("-h, --help"));
    EXPECT_THAT(text, Not(HasSubstr("--train.max_steps")));
}

TEST(Help, the_long_form_shows_every_option_and_the_exit_codes) {
    const Demo demo;
    const std::string text = help_text(demo_program(), demo.schema, true);
    for (const OptionBase* option : demo.schema.options()) {
        EXPECT_THAT(text, HasSubstr("  " + flag_with_value(*option)));
    }
    EXPECT_THAT(text, HasSubstr("exit codes:\n  0                           done\n"));
}

TEST(Help, fits_into_80_columns) {
    const Demo demo;
    std::istringstream lines(help_text(demo_program(), demo.schema, true));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 80u) << line;
    }
}

// The page as a terminal shows it, without bold and underlining.
std::string rendered(const std::string& page) {
    const TempDir dir;
    const std::string file = dir.write("demo.1", page);
    const auto result = run_command(
        {"groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-ww", "-rLL=200n", file}, Seconds(20));
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "") << "groff warns about what it cannot read";
    return result.output;
}

bool has_groff() {
    return run_command({"groff", "--version"}, Seconds(20)).exit_code == 0;
}

TEST(ManPage, is_clean_roff_that_shows_everything) {
    if (!has_groff()) {
        GTEST_SKIP() << "groff is not installed";
    }
    const Demo demo;
    const std::string page = rendered(man_page(demo_program(), demo.schema));
    for (const std::string heading : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "ENVIRONMENT",
                                      "FILES", "EXIT STATUS", "EXAMPLES"}) {
        EXPECT_THAT(page, HasSubstr("\n" + heading + "\n"));
    }
    EXPECT_THAT(page, HasSubstr("mastic-demo - shows what options can do"));
    EXPECT_THAT(page, HasSubstr(".It has a second paragraph - with a \\ and a leading point."));
    EXPECT_THAT(page, HasSubstr("mastic-demo run.toml --train.epochs 3"));
    EXPECT_THAT(page, HasSubstr("One of sgd, adamw; default sgd."));
    for (const OptionBase* option : demo.schema.options()) {
        EXPECT_THAT(page, HasSubstr(flag_with_value(*option)));
        EXPECT_THAT(page, HasSubstr(option->environment_name()));
    }
}

}  // namespace
}  // namespace mastic::config::test
