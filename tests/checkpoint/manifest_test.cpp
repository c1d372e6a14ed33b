#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.hpp"

#include <mastic/checkpoint/manifest.hpp>

namespace mastic::checkpoint {
namespace {

using test::expect_error;

DatasetRecord rows(const std::string& name, std::int64_t begin, std::int64_t count, std::int64_t total) {
    DatasetRecord dataset;
    dataset.name = name;
    dataset.shape = {count, 2};
    dataset.offset = {begin, 0};
    dataset.global_shape = {total, 2};
    dataset.position = 2048;
    dataset.bytes = static_cast<std::uint64_t>(count) * 8;
    dataset.checksum = 0xFEDCBA9876543210u;
    return dataset;
}

CheckpointManifest example() {
    CheckpointManifest manifest;
    manifest.step = 1234;
    manifest.samples = 78976;
    manifest.created = "2024-02-29T12:34:56Z";
    manifest.world_size = 2;
    manifest.facts =
        R"({"seed":18446744073709551615,"accuracy":0.8512345678901234,"text":"\u00e4 \"quoted\""})";
    manifest.files = {{"shard-0-of-2.0.h5", 4096, 1, {rows("model/w", 0, 3, 5)}},
                      {"shard-1-of-2.0.h5", 4096, UINT64_MAX, {rows("model/w", 3, 2, 5)}}};
    return manifest;
}

TEST(Manifest, ItsTextIsJsonThatReadsBackToTheSame) {
    const std::string text = to_text(example());
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json.at("body").at("step"), 1234);
    EXPECT_EQ(json.at("body").at("facts").at("seed"), UINT64_MAX);
    const CheckpointManifest parsed = parse_manifest(text);
    EXPECT_EQ(parsed.files, example().files);
    EXPECT_EQ(parsed.samples, 78976u);
    EXPECT_EQ(parsed.created, "2024-02-29T12:34:56Z");
    EXPECT_EQ(nlohmann::json::parse(parsed.facts), nlohmann::json::parse(example().facts));
    EXPECT_EQ(to_text(parsed), text);
}

TEST(Manifest, EveryFlippedBitAndEveryCutIsNoticed) {
    const std::string text = to_text(example());
    for (std::size_t byte = 0; byte < text.size(); ++byte) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string changed = text;
            changed[byte] = static_cast<char>(changed[byte] ^ (1 << bit));
            EXPECT_THROW(parse_manifest(changed), Error) << "bit " << bit << " of byte " << byte;
        }
        EXPECT_THROW(parse_manifest(std::string_view(text).substr(0, byte)), Error) << byte;
    }
    EXPECT_THROW(parse_manifest(text + "\n"), Error);
}

TEST(Manifest, WhatHasAValidChecksumIsStillChecked) {
    const auto with = [](const std::function<void(CheckpointManifest&)>& spoil) {
        CheckpointManifest manifest = example();
        spoil(manifest);
        return to_text(manifest);
    };
    expect_error(ExitCode::checkpoint, "version 2",
                 [&] { parse_manifest(with([](auto& m) { m.version = 2; })); });
    for (const char* name : {"../shard.h5", "", ".hidden", "a/b"}) {
        expect_error(ExitCode::checkpoint, "no name of a shard",
                     [&] { parse_manifest(with([&](auto& m) { m.files[0].name = name; })); });
    }
    expect_error(ExitCode::checkpoint, "leaves its file", [&] {
        parse_manifest(with([](auto& m) { m.files[0].datasets[0].position = UINT64_MAX; }));
    });
    expect_error(ExitCode::checkpoint, "leaves (5, 2)", [&] {
        parse_manifest(with([](auto& m) { m.files[1].datasets[0].offset = {4, 0}; }));
    });
    expect_error(ExitCode::checkpoint, "malformed", [&] { parse_manifest(frame_json("[1,")); });
    expect_error(ExitCode::checkpoint, "malformed", [&] { parse_manifest(frame_json(R"({"version":1})")); });
}

TEST(Manifest, FactsThatAreNoJsonAreRefused) {
    CheckpointManifest manifest = example();
    manifest.facts = "{seed: 1}";
    expect_error(ExitCode::usage, "no JSON", [&] { to_text(manifest); });
}

TEST(Manifest, AShardRecordTravelsAsText) {
    const ShardRecord record{3, 4, example().files};
    EXPECT_EQ(parse_shard_record(to_text(record)), record);
    expect_error(ExitCode::checkpoint, "malformed", [] { parse_shard_record("{}"); });
}

TEST(Manifest, SlicesMustFillTheirTensorAndAgree) {
    EXPECT_NO_THROW(check_coverage(example()));
    CheckpointManifest gap = example();
    gap.files.pop_back();
    expect_error(ExitCode::checkpoint, "model/w of shape (5, 2)", [&] { check_coverage(gap); });
    CheckpointManifest type = example();
    type.files[1].datasets[0].type = DataType::float64;
    expect_error(ExitCode::checkpoint, "differ in type or shape", [&] { check_coverage(type); });
    CheckpointManifest shape = example();
    shape.files[1].datasets[0].global_shape = {6, 2};
    expect_error(ExitCode::checkpoint, "differ in type or shape", [&] { check_coverage(shape); });
}

}  // namespace
}  // namespace mastic::checkpoint
