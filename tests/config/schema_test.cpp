#include <gmock/gmock.h>

#include <stdexcept>

#include "demo_program.hpp"

namespace mastic::config::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Schema, declarations_are_verified) {
    const auto with = [](const std::function<void(Schema&, DemoOptions&)>& declare) {
        return [declare] {
            DemoOptions options;
            Schema schema;
            declare(schema, options);
            schema.verify();
        };
    };
    EXPECT_NO_THROW(with([](auto& s, auto& o) { s.option("a.b.c-d_e", o.seed, ""); })());
    EXPECT_THAT(with([](auto& s, auto& o) {
                    s.option("a.b", o.seed, "");
                    s.option("a.b", o.epochs, "");
                }),
                ThrowsMessage<std::logic_error>(HasSubstr("a.b is declared twice")));
    EXPECT_THAT(with([](auto& s, auto& o) {
                    s.option("a.b_c", o.seed, "");
                    s.option("a_b.c", o.epochs, "");
                }),
                ThrowsMessage<std::logic_error>(HasSubstr("share MASTIC_A_B_C")));
    EXPECT_THAT(with([](auto& s, auto& o) { s.option("a.b", o.epochs, "").range(11, 20); }),
                ThrowsMessage<std::logic_error>(HasSubstr("default of option a.b")));
    EXPECT_THAT(with([](auto& s, auto& o) {
                    s.option("a.b", o.epochs, "");
                    s.option("a.b.c", o.seed, "");
                }),
                ThrowsMessage<std::logic_error>(HasSubstr("also the name of a section")));
    EXPECT_THAT(with([](auto& s, auto& o) { s.flag("dry-run", o.fork, ""); }),
                ThrowsMessage<std::logic_error>(HasSubstr("standard flag")));
    for (const std::string key : {"", "A.b", "a..b", ".a", "a.", "a b", "-a"}) {
        EXPECT_THROW(with([&](auto& s, auto& o) { s.option(key, o.seed, ""); })(), std::logic_error) << key;
    }
}

TEST(Schema, one_declaration_gives_all_names) {
    Demo demo;
    const OptionBase& option = *demo.schema.find("allreduce.bucket-size");
    EXPECT_EQ(option.flag(), "--allreduce.bucket-size");
    EXPECT_EQ(option.section(), "allreduce");
    EXPECT_EQ(option.name(), "bucket-size");
    EXPECT_EQ(option.environment_name(), "MASTIC_ALLREDUCE_BUCKET_SIZE");
    EXPECT_EQ(option.value_name(), "SIZE");
    EXPECT_EQ(option.default_text(), "25M");
    EXPECT_EQ(option.limits(), "at least 1");
    EXPECT_EQ(demo.schema.find("fork")->environment_name(), "");
    EXPECT_EQ(demo.schema.find("train.nothing"), nullptr);
}

}  // namespace
}  // namespace mastic::config::test
