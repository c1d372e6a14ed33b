#include <gtest/gtest.h>

#include <mastic/config/resolved.hpp>
#include <mastic/core/random.hpp>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;

const std::string valid = R"([train]
epochs = 3
seed = 0x10
max_steps = 1_000
tags = ["a,b", "c"] # words
[optimizer]
name = 'adamw'
rate = 1e-3
milestones = [0.25, 1]
[data]
path = "caf\u00e9.idx"
shuffle = false
[allreduce]
bucket-size = "64K"
[checkpoint]
interval = "10m"
)";

void mutate(std::string& text, CounterRandom& random) {
    static const std::vector<std::string> pieces = {"\"",
                                                    "'",
                                                    "[",
                                                    "]",
                                                    "[[",
                                                    "]]",
                                                    "{",
                                                    "}",
                                                    "=",
                                                    ".",
                                                    ",",
                                                    "#",
                                                    "\n",
                                                    "\r",
                                                    "\r\n",
                                                    "\\",
                                                    "\\u",
                                                    "\"\"\"",
                                                    "'''",
                                                    "-",
                                                    "_",
                                                    "e",
                                                    "inf",
                                                    "nan",
                                                    "true",
                                                    "1979-05-27T07:32:00Z",
                                                    "9",
                                                    "0x",
                                                    "\xff",
                                                    "\xef\xbb\xbf",
                                                    std::string(1, '\0'),
                                                    "\xe2\x82",
                                                    " "};
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(random.below(6), text.size() - at);
    switch (random.below(4)) {
        case 0:
            text.insert(at, pieces[random.below(pieces.size())]);
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(random.below(text.size() + 1), text.substr(at, random.below(60)));
            break;
        default:
            text.replace(at, length, 1, static_cast<char>(random.below(256)));
    }
}

TEST(TomlFuzz, a_damaged_file_is_read_or_refused_but_never_harms) {
    const TempDir dir;
    CounterRandom random(20240607);
    int refused = 0;
    constexpr int rounds = 1000;
    for (int round = 0; round < rounds; ++round) {
        // A new file each time: overwriting one takes much longer.
        const std::string number = std::to_string(round) + ".toml";
        std::string text = valid;
        for (auto count = 1 + random.below(4); count > 0; --count) {
            mutate(text, random);
        }
        const std::string file = dir.write("run" + number, text);
        Demo demo;
        try {
            demo.parse({file});
            Demo again;
            EXPECT_EQ(again.error_of({dir.write("again" + number, to_toml(demo.schema, true))}), "no error")
                << text;
            EXPECT_TRUE(compare(again.schema, to_toml(demo.schema, false), "stored").empty()) << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            EXPECT_NE(std::string(error.what()).find(file + ":"), std::string::npos) << error.what();
            ++refused;
        }
    }
    EXPECT_GT(refused, rounds / 4) << "the mutations are too tame to show anything";
    EXPECT_LT(refused, rounds) << "the mutations are too wild to reach what lies behind the parser";
}

}  // namespace
}  // namespace mastic::config::test
