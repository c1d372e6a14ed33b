#include <gtest/gtest.h>

#include <mastic/colocation/layout_cache.hpp>

#include "colocation/sample_devices.hpp"
#include "support/temp_dir.hpp"

namespace mastic::colocation {
namespace {

const Environment nothing = [](const std::string&) { return std::nullopt; };

TEST(LayoutKey, IsOfProgramConfigurationAndDevices) {
    const test::TempDir dir;
    const std::string config = dir.write("a.toml", "x = 1\n").string();
    const std::vector<Device> one = {test::gpu("GPU-a")};
    const std::string key = layout_key({"mastic-train", config, "--run.dir", "runs/a"}, one, 1);
    EXPECT_EQ(layout_key({"/opt/bin/mastic-train", config, "--run.dir=runs/b"}, {test::gpu("GPU-z")}, 1), key)
        << "place, run directory and which GPU of a model are no matter";
    EXPECT_NE(layout_key({"mastic-train", config, "--train.batch_size=64"}, one, 1), key);
    EXPECT_NE(layout_key({"mastic-train", config}, {test::gpu("GPU-a"), test::gpu("GPU-b")}, 1), key);
    EXPECT_NE(layout_key({"mastic-train", config}, one, 2), key);
    test::write_file(config, "x = 2\n");
    EXPECT_NE(layout_key({"mastic-train", config}, one, 1), key);
}

TEST(LayoutCache, KeepsWhatItIsGiven) {
    const test::TempDir dir;
    const LayoutCache cache((dir / "deep/er/layouts.json").string(), nothing);
    EXPECT_FALSE(cache.find("k").has_value());
    cache.store("k", "mastic-train a.toml",
                {4, 123.5, {{1, 50, {}, {7}, {}, ""}, {2, 0, {}, {}, {}, "no"}}, "the end"});
    cache.store("l", "mastic-train b.toml", {2, 1, {}, ""});
    const auto found = LayoutCache((dir / "deep/er/layouts.json").string(), nothing).find("k");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->ranks_per_device, 4);
    EXPECT_EQ(found->samples_per_s, 123.5);
    EXPECT_EQ(found->end, "the end");
    ASSERT_EQ(found->trials.size(), 2u);
    EXPECT_EQ(found->trials[0].memory_peak.count, 7u);
    EXPECT_EQ(found->trials[1].problem, "no");
}

TEST(LayoutCache, TakesADamagedFileForAnEmptyOne) {
    const test::TempDir dir;
    const std::string file = dir.write("layouts.json", "{\"k\": {\"ranks_per_device\": \"four\"}, ").string();
    const LayoutCache cache(file, nothing);
    EXPECT_FALSE(cache.find("k").has_value());
    cache.store("k", "", {2, 1, {}, ""});
    EXPECT_EQ(cache.find("k")->ranks_per_device, 2);
    test::write_file(file, "{\"k\": {\"ranks_per_device\": \"four\"}}");
    EXPECT_FALSE(cache.find("k").has_value());
}

TEST(LayoutCache, LiesWhereCachesDo) {
    const Environment home = [](const std::string& name) {
        return name == "HOME" ? std::optional<std::string>("/home/me") : std::nullopt;
    };
    EXPECT_EQ(LayoutCache("", home).file(), "/home/me/.cache/mastic/layouts.json");
}

}  // namespace
}  // namespace mastic::colocation
