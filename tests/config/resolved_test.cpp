#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include <mastic/config/resolved.hpp>
#include <mastic/core/random.hpp>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(PrintConfig, shows_every_key_with_value_and_origin) {
    const TempDir dir;
    const std::string file = dir.write("run.toml", "[optimizer]\nrate = 0.2\n");
    Demo demo;
    demo.parse({file, "--train.tags=x,y"}, {{"MASTIC_TRAIN_SEED", "3"}});
    EXPECT_EQ(to_toml(demo.schema, true),
              "[train]\n"
              "epochs = 10  # default\n"
              "seed = 3  # MASTIC_TRAIN_SEED\n"
              "max_steps = \"none\"  # default\n"
              "tags = [\"x\", \"y\"]  # --train.tags\n"
              "\n[optimizer]\n"
              "name = \"sgd\"  # default\n"
              "rate = 0.2  # " +
                  file +
                  ":2:8\n"
                  "milestones = [0.5, 0.75]  # default\n"
                  "\n[model]\n"
                  "layers = [128, 10]  # default\n"
                  "\n[data]\n"
                  "path = \"data/train.idx\"  # default\n"
                  "shuffle = true  # default\n"
                  "\n[allreduce]\n"
                  "bucket-size = \"25M\"  # default\n"
                  "\n[checkpoint]\n"
                  "interval = \"10m\"  # default\n");
}

TEST(PrintConfig, a_strange_file_name_stays_inside_its_comment) {
    const TempDir dir;
    const std::string file = dir.write("a\nb\x01.toml", "[train]\nepochs = 3\n");
    Demo demo;
    demo.parse({file});
    Demo again;
    again.parse({dir.write("again.toml", to_toml(demo.schema, true))});
    EXPECT_EQ(again.options.epochs, 3);
}

void expect_same(const DemoOptions& a, const DemoOptions& b) {
    EXPECT_EQ(a.epochs, b.epochs);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.rate), std::bit_cast<std::uint64_t>(b.rate));
    EXPECT_EQ(a.shuffle, b.shuffle);
    EXPECT_EQ(a.optimizer, b.optimizer);
    EXPECT_EQ(a.data, b.data);
    EXPECT_EQ(a.bucket, b.bucket);
    EXPECT_EQ(a.interval, b.interval);
    EXPECT_EQ(a.tags, b.tags);
    EXPECT_EQ(a.milestones, b.milestones);
    EXPECT_EQ(a.layers, b.layers);
    EXPECT_EQ(a.max_steps, b.max_steps);
}

// A positive finite double of any magnitude.
double any_double(CounterRandom& random) {
    for (;;) {
        const auto number = std::bit_cast<double>(random.next() >> 1);
        if (std::isfinite(number) && number > 0) {
            return number;
        }
    }
}

std::string any_text(CounterRandom& random) {
    static const std::vector<std::string> pieces = {"a", " ",    "\"",   "\\", "\n", "\t", "#",
                                                    "'", "\x7f", "\x01", "é",  "=",  "]",  "𝛼"};
    std::string text;
    for (auto length = random.below(12); length > 0; --length) {
        text += pieces[random.below(pieces.size())];
    }
    return text;
}

TEST(PrintConfig, what_it_writes_is_read_back_to_the_last_bit) {
    const TempDir dir;
    CounterRandom random(7);
    for (int round = 0; round < 300; ++round) {
        Demo demo;
        DemoOptions& set = demo.options;
        set.seed = static_cast<std::int64_t>(random.next());
        set.rate = any_double(random);
        set.shuffle = random.below(2) == 0;
        set.data = any_text(random);
        set.bucket = Bytes{std::max<std::uint64_t>(1, random.next() >> random.below(64))};
        set.interval = Seconds(1 + random.uniform() * std::pow(10, random.below(9)));
        set.tags.assign(random.below(3), any_text(random));
        set.milestones.assign(random.below(3), random.uniform());
        set.layers.assign(random.below(3), 1 + static_cast<std::int64_t>(random.next() >> 2));
        set.max_steps =
            random.below(2) == 0 ? std::nullopt : std::optional<std::int64_t>(random.below(1000) + 1);
        const std::string text = to_toml(demo.schema, round % 2 == 0);
        Demo again;
        ASSERT_EQ(again.error_of({dir.write(std::to_string(round) + ".toml", text)}), "no error") << text;
        expect_same(again.options, set);
        EXPECT_THAT(compare(again.schema, text, "stored"), IsEmpty());
    }
}

TEST(PrintConfig, extreme_numbers_survive) {
    const TempDir dir;
    for (const double rate : {5e-324, 1e-5, 0.1, 1.0, 123456789.0, 1e22, 1e23, 1.7976931348623157e308,
                              std::numeric_limits<double>::infinity()}) {
        Demo demo;
        demo.options.rate = rate;
        Demo again;
        again.parse({dir.write("again.toml", to_toml(demo.schema, false))});
        EXPECT_EQ(again.options.rate, rate);
    }
}

TEST(Values, are_what_a_flag_would_take) {
    Demo demo;
    demo.parse({"--train.tags=x,y", "--optimizer.rate=1"});
    const auto texts = values(demo.schema);
    EXPECT_EQ(texts.at("train.tags"), "x,y");
    EXPECT_EQ(texts.at("optimizer.rate"), "1.0");
    EXPECT_EQ(texts.at("checkpoint.interval"), "10m");
    EXPECT_FALSE(texts.contains("fork"));
    Demo again;
    for (const auto& [key, text] : texts) {
        again.parse({"--" + key + "=" + text});
        EXPECT_EQ(values(again.schema).at(key), text);
    }
}

TEST(Compare, reports_changed_keys_with_their_rules) {
    Demo stored;
    stored.parse({"--train.epochs=3"});
    Demo now;
    now.parse({"--train.epochs=5", "--train.seed=9", "--optimizer.rate=0.5", "--model.layers=64,10"});
    std::map<std::string, OnResume> rules;
    std::vector<std::string> texts;
    for (const Change& change : compare(now.schema, to_toml(stored.schema, false), "config.toml")) {
        rules[change.key] = change.rule;
        texts.push_back(change.text());
    }
    EXPECT_EQ(rules, (std::map<std::string, OnResume>{{"train.epochs", OnResume::free},
                                                      {"train.seed", OnResume::refuse},
                                                      {"optimizer.rate", OnResume::fork},
                                                      {"model.layers", OnResume::refuse}}));
    EXPECT_THAT(texts, ElementsAre("train.epochs: 3 -> 5", "train.seed: 1 -> 9", "optimizer.rate: 0.1 -> 0.5",
                                   "model.layers: [128, 10] -> [64, 10]"));
}

TEST(Compare, what_is_no_matter_of_the_run_is_not_told) {
    Schema schema;
    std::int64_t epochs = 1, nodes = 4;
    schema.option("train.epochs", epochs, "passes");
    schema.option("slurm.nodes", nodes, "of the job").on_resume(OnResume::ignore);
    nodes = 8;
    EXPECT_THAT(compare(schema, "[slurm]\nnodes = 4\n", "x"), IsEmpty());
    EXPECT_THAT(compare(schema, "[slurm]\nnodes = 4\n[train]\nepochs = 3\n", "x"), SizeIs(1));
}

TEST(Compare, judges_values_not_spelling) {
    Demo now;
    now.parse({"--checkpoint.interval=90", "--optimizer.rate=1"});
    EXPECT_THAT(
        compare(now.schema,
                "checkpoint.interval = \"1:30\"\noptimizer.rate = 1\nallreduce.bucket-size = 26214400\n",
                "x"),
        IsEmpty());
}

TEST(Compare, a_key_that_was_not_stored_counts_as_its_default) {
    Demo now;
    EXPECT_THAT(compare(now.schema, "", "x"), IsEmpty());
    now.parse({"--train.seed=9"});
    const auto changes = compare(now.schema, "", "x");
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_EQ(changes[0].text(), "train.seed: (absent) -> 9");
    EXPECT_EQ(changes[0].rule, OnResume::refuse);
}

TEST(Compare, keys_of_other_versions_are_reported_and_bad_values_are_changes) {
    Demo now;
    const auto changes =
        compare(now.schema, "[old]\nkey = [1, \"b\"]\n[train]\nepochs = \"ten\"\nseed = 2024-01-01\n", "x");
    ASSERT_THAT(changes, SizeIs(3));
    EXPECT_EQ(changes[0].text(), "old.key: [1, \"b\"] -> (absent)");
    EXPECT_EQ(changes[0].rule, OnResume::free);
    EXPECT_EQ(changes[1].text(), "train.epochs: \"ten\" -> 10");
    EXPECT_EQ(changes[2].key, "train.seed");
}

TEST(Compare, a_stored_file_that_is_not_toml_is_named) {
    Demo now;
    try {
        compare(now.schema, "[train\n", "runs/a/config.toml");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_THAT(error.what(), HasSubstr("runs/a/config.toml:1:"));
    }
}

}  // namespace
}  // namespace mastic::config::test
