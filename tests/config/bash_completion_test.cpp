#include <gmock/gmock.h>

#include <sstream>

#include <mastic/config/bash_completion.hpp>
#include <mastic/core/command.hpp>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class BashCompletion : public ::testing::Test {
  protected:
    void SetUp() override {
        dir_.write("run.toml", "");
        dir_.write("notes.txt", "");
        dir_.write("runs/a.toml", "");
        script_ = dir_.write("completion", bash_completion(demo_program(), Demo().schema));
    }

    // What bash offers for the last of these words, by the function that it would call for mastic-demo.
    std::vector<std::string> offered(const std::string& words) const {
        const std::string call = "cd '" + dir_.path().string() + "'; source '" + script_.string() +
                                 "'; set -f; COMP_WORDS=(mastic-demo " + words +
                                 "); set +f; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                                 "function=$(complete -p mastic-demo | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
                                 "\"$function\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
        const auto result = run_command({"bash", "--norc", "-c", call}, Seconds(20));
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(result.error, "");
        std::vector<std::string> lines;
        std::istringstream stream(result.output);
        for (std::string line; std::getline(stream, line);) {
            if (!line.empty()) {
                lines.push_back(line);
            }
        }
        return lines;
    }

    TempDir dir_;
    std::filesystem::path script_;
};

TEST_F(BashCompletion, is_valid_bash) {
    const auto result = run_command({"bash", "-n", script_.string()}, Seconds(20));
    EXPECT_EQ(result.exit_code, 0) << result.error;
}

TEST_F(BashCompletion, offers_flags) {
    EXPECT_THAT(offered("--train.e"), ElementsAre("--train.epochs"));
    EXPECT_THAT(offered("run.toml --optimizer."),
                UnorderedElementsAre("--optimizer.name", "--optimizer.rate", "--optimizer.milestones"));
    EXPECT_THAT(offered("--"), AllOf(Contains("--help"), Contains("--fork"), Contains("--config")));
}

TEST_F(BashCompletion, offers_choices_behind_blank_and_equals_sign) {
    EXPECT_THAT(offered("--optimizer.name ''"), ElementsAre("sgd", "adamw"));
    EXPECT_THAT(offered("--optimizer.name a"), ElementsAre("adamw"));
    EXPECT_THAT(offered("--optimizer.name ="), ElementsAre("sgd", "adamw"));
    EXPECT_THAT(offered("--optimizer.name = s"), ElementsAre("sgd"));
    EXPECT_THAT(offered("--generate m"), ElementsAre("man"));
}

TEST_F(BashCompletion, offers_files_where_a_file_belongs_and_nothing_behind_a_number) {
    EXPECT_THAT(offered("--data.path n"), ElementsAre("notes.txt"));
    EXPECT_THAT(offered("--config = ru"), UnorderedElementsAre("run.toml", "runs"));
    EXPECT_THAT(offered("--train.epochs ''"), IsEmpty());
}

TEST_F(BashCompletion, offers_commands_and_configurations_first) {
    EXPECT_THAT(offered("''"), UnorderedElementsAre("run.toml", "runs", "status", "compare", "evaluate"));
    EXPECT_THAT(offered("st"), ElementsAre("status"));
    EXPECT_THAT(offered("status ''"),
                AllOf(Contains("runs"), Not(Contains("notes.txt")), Not(Contains("compare"))));
}

}  // namespace
}  // namespace mastic::config::test
