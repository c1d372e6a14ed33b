#include <gtest/gtest.h>

#include <mastic/config/parse.hpp>
#include <mastic/engine/front/train_options.hpp>

namespace mastic::engine {
namespace {

TEST(TrainOptions, AreDeclaredWithoutMistakes) {
    TrainOptions options;
    config::Schema schema;
    declare_train_options(schema, options);
    EXPECT_NO_THROW(schema.verify());
}

TEST(TrainOptions, EveryOneHasHelp) {
    TrainOptions options;
    config::Schema schema;
    declare_train_options(schema, options);
    for (const config::OptionBase* option : schema.options()) {
        EXPECT_GT(option->help().size(), 10u) << option->key();
    }
}

}  // namespace
}  // namespace mastic::engine
