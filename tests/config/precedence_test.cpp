#include <gmock/gmock.h>

#include "demo_program.hpp"
#include "support/temp_dir.hpp"

namespace mastic::config::test {
namespace {

using mastic::test::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Precedence, flag_wins_over_variable_over_file_over_default) {
    const TempDir dir;
    const std::string file =
        dir.write("run.toml", "[train]\nepochs = 2\nseed = 2\n[optimizer]\nrate = 0.2\n");
    const Variables variables = {{"MASTIC_TRAIN_EPOCHS", "3"}, {"MASTIC_TRAIN_SEED", "3"}};
    Demo demo;
    demo.parse({file, "--train.epochs", "4"}, variables);
    EXPECT_EQ(demo.options.epochs, 4);
    EXPECT_EQ(demo.options.seed, 3);
    EXPECT_EQ(demo.options.rate, 0.2);
    EXPECT_EQ(demo.options.optimizer, "sgd");
}

TEST(Precedence, every_value_knows_its_origin) {
    const TempDir dir;
    const std::string file =
        dir.write("run.toml", "[train]\nepochs = 2\nseed = 2\n[optimizer]\n  rate = 0.2\n");
    Demo demo;
    demo.parse({file, "--train.epochs", "4"}, {{"MASTIC_TRAIN_SEED", "3"}});
    const auto origin = [&](const std::string& key) { return demo.schema.find(key)->origin(); };
    const auto text = [&](const std::string& key) { return demo.schema.find(key)->origin_text(); };
    EXPECT_EQ(origin("train.epochs"), Origin::flag);
    EXPECT_EQ(text("train.epochs"), "--train.epochs");
    EXPECT_EQ(origin("train.seed"), Origin::environment);
    EXPECT_EQ(text("train.seed"), "MASTIC_TRAIN_SEED");
    EXPECT_EQ(origin("optimizer.rate"), Origin::file);
    EXPECT_EQ(text("optimizer.rate"), file + ":5:10");
    EXPECT_EQ(origin("optimizer.name"), Origin::default_value);
}

TEST(Precedence, a_second_parse_starts_from_the_defaults) {
    Demo demo;
    demo.parse({"--train.epochs=4", "--fork"});
    demo.parse({});
    EXPECT_EQ(demo.options.epochs, 10);
    EXPECT_FALSE(demo.options.fork);
    EXPECT_EQ(demo.schema.find("train.epochs")->origin(), Origin::default_value);
}

TEST(Environment, an_empty_variable_counts_as_not_set) {
    Demo demo;
    demo.parse({}, {{"MASTIC_TRAIN_EPOCHS", ""}});
    EXPECT_EQ(demo.options.epochs, 10);
}

TEST(Environment, dashes_and_points_become_underscores) {
    Demo demo;
    demo.parse({}, {{"MASTIC_ALLREDUCE_BUCKET_SIZE", "64K"}, {"MASTIC_OPTIMIZER_MILESTONES", "0.25, 1"}});
    EXPECT_EQ(demo.options.bucket, Bytes{65536});
    EXPECT_THAT(demo.options.milestones, ElementsAre(0.25, 1.0));
}

TEST(Environment, a_misspelt_variable_is_found_and_the_right_one_suggested) {
    Demo demo;
    EXPECT_THAT(
        demo.error_of({}, {{"MASTIC_TRAIN_EPOCH", "3"}}),
        HasSubstr("MASTIC_TRAIN_EPOCH: this variable is no option; did you mean 'MASTIC_TRAIN_EPOCHS'?"));
}

TEST(Environment, variables_of_others_are_left_alone) {
    Demo demo;
    EXPECT_NO_THROW(demo.parse(
        {},
        {{"MASTIC_RESCALE_HORIZON", "10m"}, {"MASTIC_TRAIN_WRAPPER", "x"}, {"MASTIC_DATA_CACHE_DIR", "y"}}));
}

TEST(Environment, a_bad_value_names_the_variable) {
    Demo demo;
    EXPECT_THAT(demo.error_of({}, {{"MASTIC_TRAIN_EPOCHS", "many"}}),
                HasSubstr("MASTIC_TRAIN_EPOCHS: 'many' is not an integer"));
}

TEST(Environment, the_variables_of_this_process_are_those_of_mastic) {
    ASSERT_EQ(setenv("MASTIC_TEST_ONLY", "a=b", 1), 0);
    const Variables variables = mastic_variables();
    unsetenv("MASTIC_TEST_ONLY");
    EXPECT_EQ(variables.at("MASTIC_TEST_ONLY"), "a=b");
    EXPECT_FALSE(variables.contains("PATH"));
}

}  // namespace
}  // namespace mastic::config::test
