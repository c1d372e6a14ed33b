#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/schedule/manager/training_order.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using mastic::test::expect_error;
using mastic::test::TempDir;

constexpr const char* training_config = "[run]\ndir = \"runs/fashion\"\n[model]\nname = \"lenet\"\n";

TrainingOrder read(const std::filesystem::path& file) {
    return read_training_order(file, {});
}

TEST(TrainingOrder, IsReadFromToml) {
    const TempDir dir;
    dir.write("fashion.toml", training_config);
    const auto file =
        dir.write("order.toml",
                  "[training]\nconfig = \"fashion.toml\"\nmin_nodes = 2\nmax_nodes = 16\nweight = 2.5\n"
                  "total_samples = 60000\narguments = [\"--data.mean\", \"0.1,0.2\"]\n");
    const TrainingOrder order = completed(read(file), dir.path());
    EXPECT_EQ(order.name, "fashion");
    EXPECT_EQ(order.config, (dir / "fashion.toml").string());
    EXPECT_EQ(order.run_directory, (dir / "runs/fashion").string());
    EXPECT_EQ(order.directory, dir.path().string());
    EXPECT_EQ(order.least, 2);
    EXPECT_EQ(order.most, 16);
    EXPECT_EQ(order.weight, 2.5);
    EXPECT_EQ(order.total_samples, 60000);
    EXPECT_EQ(order.arguments, (std::vector<std::string>{"--data.mean", "0.1,0.2"}));
}

TEST(TrainingOrder, IsAConfigurationOfMasticTrainToo) {
    const TempDir dir;
    const auto file = dir.write("fashion.toml", training_config);
    const TrainingOrder order = completed(read(file), dir.path());
    EXPECT_EQ(order.config, file.string());
    EXPECT_EQ(order.run_directory, (dir / "runs/fashion").string());
}

TEST(TrainingOrder, FlagsWinOverTheFile) {
    const TempDir dir;
    const auto file =
        dir.write("order.toml", "[training]\nconfig = \"a.toml\"\nmax_nodes = 16\nweight = 2\n");
    TrainingOrder given_values;
    config::Schema given;
    declare_training_order(given, given_values);
    const std::vector<std::string> eight = {"8"};
    given.find("training.max_nodes")->set(eight, config::Origin::flag, "--training.max_nodes");
    const TrainingOrder order = read_training_order(file, given);
    EXPECT_EQ(order.most, 8);
    EXPECT_EQ(order.weight, 2);
}

TEST(TrainingOrder, RunDirectoryIsThatOfTheArguments) {
    const TempDir dir;
    TrainingOrder order;
    order.config = dir.write("a.toml", training_config).string();
    order.arguments = {"--run.dir", "first", "--run.dir=second"};
    EXPECT_EQ(completed(order, dir.path()).run_directory, (dir / "second").string());
    order.run_directory = "/third";
    EXPECT_EQ(completed(order, dir.path()).run_directory, "/third");
}

TEST(TrainingOrder, MistakesHaveTheirPlace) {
    const TempDir dir;
    const auto place = [&](const char* text, const std::string& expected) {
        const auto file = dir.write("order.toml", text);
        expect_error(ExitCode::usage, "order.toml" + expected, [&] { read(file); });
    };
    place("[training]\nconfig = \"a.toml\"\nmax_node = 3\n",
          ":3:1: unknown key 'training.max_node'; did you mean 'training.max_nodes'?");
    place("[training]\nconfig = \"a.toml\"\nmin_nodes = \"two\"\n", ":3:13:");
    place("[training]\nconfig = \"a.toml\"\nweight = 0\n", ":3:10:");
    place("[traning]\nconfig = \"a.toml\"\n", ":1:2: unknown section 'traning'; did you mean 'training'?");
    place("[training]\nmin_nodes = 3\n", ": no training.config");
    place("[training\n", ":1:10: not valid TOML");
}

TEST(TrainingOrder, WhatCannotWorkIsRefused) {
    const TempDir dir;
    TrainingOrder order;
    order.config = dir.write("a.toml", "[model]\nname = \"lenet\"\n").string();
    expect_error(ExitCode::usage, "does not say where its run is", [&] { completed(order, dir.path()); });
    order.run_directory = "run";
    order.least = 9;
    order.most = 8;
    expect_error(ExitCode::usage, "training.min_nodes (9) is above training.max_nodes (8)",
                 [&] { completed(order, dir.path()); });
    order.run_directory.clear();
    order.least = 1;
    order.config = dir.write("b.toml", "[run]\ndir = runs\n").string();
    order.run_directory = "run";  // what is wrong there is told although it is not needed
    expect_error(ExitCode::usage, "b.toml:2:7: not valid TOML", [&] { completed(order, dir.path()); });
    order.config = "/nowhere/a.toml";
    expect_error(ExitCode::io, "/nowhere/a.toml", [&] { completed(order, dir.path()); });
}

TEST(TrainingOrder, ComesBackFromJson) {
    TrainingOrder order;
    order.name = "a \"quoted\" name";
    order.config = "/c.toml";
    order.run_directory = "/r";
    order.directory = "/d";
    order.least = 3;
    order.most = 5;
    order.weight = 0.25;
    order.total_samples = 1'000'000'000'000;
    order.arguments = {"--x", "1"};
    order.sweep = "rates";
    order.keep_best = 2;
    order.submitted_s = 1.5;
    EXPECT_EQ(to_json(parse_training_order(to_json(order), "order.json")), to_json(order));
    EXPECT_EQ(parse_training_order(to_json(order), "order.json").arguments, order.arguments);
}

TEST(TrainingOrder, DamageAndNewerVersionsAreTold) {
    expect_error(ExitCode::data, "order.json is damaged",
                 [] { parse_training_order("{\"format\": 1, \"na", "order.json"); });
    expect_error(ExitCode::data, "order.json is damaged",
                 [] { parse_training_order("{\"format\": 1, \"min_nodes\": \"x\"}", "order.json"); });
    expect_error(ExitCode::data, "newer mastic (format 2, this one knows 1)",
                 [] { parse_training_order("{\"format\": 2, \"min_nodes\": {}}", "order.json"); });
}

}  // namespace
}  // namespace mastic::schedule
