#include <gmock/gmock.h>

#include <mastic/config/requested_text.hpp>

#include "demo_program.hpp"

namespace mastic::config::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_for(const std::vector<std::string>& words) {
    Demo demo;
    const Invocation call = demo.parse(words);
    return requested_text(demo_program(), demo.schema, call,
                          [] {
                              return LibraryVersions{{"MPI", "MPICH 4.0.2"}};
                          })
        .value_or("nothing");
}

TEST(RequestedText, is_chosen_by_the_standard_flags) {
    EXPECT_THAT(text_for({"--help"}), HasSubstr("--help-all shows all options"));
    EXPECT_THAT(text_for({"status", "--help-all"}), HasSubstr("--train.max_steps"));
    EXPECT_THAT(text_for({"--generate=man"}), HasSubstr(".TH MASTIC\\-DEMO 1"));
    EXPECT_THAT(text_for({"--generate", "bash-completion"}),
                HasSubstr("complete -F _mastic_demo mastic-demo"));
    EXPECT_THAT(text_for({"--print-config", "--train.epochs=3"}),
                StartsWith("[train]\nepochs = 3  # --train.epochs"));
    EXPECT_EQ(text_for({}), "nothing");
    EXPECT_THAT(text_for({"--version"}), HasSubstr("MPICH 4.0.2"));
    EXPECT_THAT(text_for({"--version", "--json"}), HasSubstr("\"MPI\": \"MPICH 4.0.2\""));
}

}  // namespace
}  // namespace mastic::config::test
