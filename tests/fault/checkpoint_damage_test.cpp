#include <gmock/gmock.h>

#include "fault/checkpoint_damage.hpp"
#include "fault/checkpoint_state.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

#include <mastic/checkpoint/verify.hpp>
#include <mastic/core/file.hpp>

namespace mastic::test {
namespace {

using namespace mastic::checkpoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

void expect_all_found(const DamageReport& report, int count) {
    EXPECT_EQ(report.injected, count);
    EXPECT_EQ(report.detected, count);
    EXPECT_EQ(report.named, count);
    EXPECT_EQ(report.older_used, count);
    EXPECT_THAT(report.failures, IsEmpty());
}

TEST(CheckpointDamage, EachOf2000FlippedBitsIsFoundAndNamedAndTheOlderGenerationUsed) {
    const TempDir directory;
    expect_all_found(flip_bits(directory.path(), 2000, 11), 2000);
}

TEST(CheckpointDamage, EachOf200CutFilesIsFoundAndNamedAndTheOlderGenerationUsed) {
    const TempDir directory;
    expect_all_found(cut_files(directory.path(), 200, 12), 200);
}

// As reported in h5py 879 and readdy 220.
TEST(CheckpointDamage, AFileCutTo5000BytesIsNamedAndSkippedOrEndsTheRunIfItIsTheOnlyOne) {
    const TempDir directory;
    const CheckpointStore store(directory.path(), small_store_options());
    save_step(store, 1, 1);
    fs::resize_file(generation_path(directory.path(), 1) / shard_name(0, 1, 0), 5000);
    expect_error(ExitCode::checkpoint, "step-000000000001: shard-0-of-1.0.h5: holds 5000 bytes",
                 [&] { store.restore(); });
    expect_error(ExitCode::checkpoint, "shard-0-of-1.0.h5", [&] { store.newest_valid(); });

    save_step(store, 2, 1);
    save_step(store, 3, 1);
    fs::resize_file(generation_path(directory.path(), 3) / shard_name(0, 1, 0), 5000);
    const auto restored = store.restore();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->manifest.step, 2u);
    ASSERT_EQ(restored->skipped.size(), 1u);
    EXPECT_EQ(restored->skipped[0].generation, "step-000000000003");
    EXPECT_THAT(restored->skipped[0].reason, HasSubstr("shard-0-of-1.0.h5: holds 5000 bytes"));
}

// Case 8 (scr 174).
TEST(CheckpointDamage, AFlippedBitOfAParameterIsNamedByVerifyAndByRestore) {
    const TempDir directory;
    const CheckpointStore store(directory.path(), small_store_options());
    save_step(store, 1, 1);
    save_step(store, 2, 1);
    const CheckpointManifest manifest = read_generation_manifest(store.list().front());
    const FileRecord* file = nullptr;
    const DatasetRecord* bias = nullptr;
    for (const FileRecord& one : manifest.files) {
        for (const DatasetRecord& dataset : one.datasets) {
            if (dataset.name == "model/fc.bias") {
                file = &one;
                bias = &dataset;
            }
        }
    }
    ASSERT_NE(bias, nullptr);
    const fs::path path = generation_path(directory.path(), 2) / file->name;
    std::string content = read_text_file(path);
    content[bias->position + 17] = static_cast<char>(content[bias->position + 17] ^ 4);
    write_file(path, content);

    const VerifyReport report = verify(directory.path());
    ASSERT_EQ(report.generations.size(), 2u);
    EXPECT_TRUE(report.usable());
    EXPECT_FALSE(report.all_valid());
    ASSERT_EQ(report.generations[0].findings.size(), 1u);
    EXPECT_EQ(report.generations[0].findings[0].file, file->name);
    EXPECT_EQ(report.generations[0].findings[0].dataset, "model/fc.bias");
    EXPECT_TRUE(report.generations[1].valid());
    EXPECT_THAT(to_text(report), HasSubstr("data set model/fc.bias"));

    const auto restored = store.restore();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->manifest.step, 1u);
    ASSERT_EQ(restored->skipped.size(), 1u);
    EXPECT_THAT(restored->skipped[0].reason, HasSubstr("data set model/fc.bias"));
}

TEST(CheckpointDamage, ADeletedFileIsNamed) {
    for (const std::string& victim : {shard_name(1, 2, 0), std::string(manifest_name)}) {
        const TempDir directory;
        const CheckpointStore store(directory.path(), small_store_options());
        save_step(store, 1, 2);
        save_step(store, 2, 2);
        fs::remove(generation_path(directory.path(), 2) / victim);
        const auto restored = store.restore();
        ASSERT_TRUE(restored);
        EXPECT_EQ(restored->manifest.step, 1u);
        ASSERT_EQ(restored->skipped.size(), 1u);
        EXPECT_THAT(restored->skipped[0].reason, HasSubstr(victim));
    }
}

TEST(CheckpointDamage, IfAllGenerationsAreDamagedTheErrorListsEachWithItsReason) {
    const TempDir directory;
    const CheckpointStore store(directory.path(), small_store_options());
    save_step(store, 1, 1);
    save_step(store, 2, 1);
    fs::remove(generation_path(directory.path(), 1) / manifest_name);
    write_file(generation_path(directory.path(), 2) / manifest_name, "{}");
    expect_error(ExitCode::checkpoint, "step-000000000002: manifest.json: is cut short",
                 [&] { store.restore(); });
    expect_error(ExitCode::checkpoint, "step-000000000001: manifest.json: cannot read",
                 [&] { store.restore(); });
    EXPECT_FALSE(verify(directory.path()).usable());
}

TEST(CheckpointDamage, ADamagedPinIsReportedAndKeepsAllGenerations) {
    const TempDir directory;
    const CheckpointStore store(directory.path(), small_store_options());
    save_step(store, 1, 1);
    store.pin_best(1);
    std::string text = read_text_file(directory / "best.json");
    text[text.size() - 4] = static_cast<char>(text[text.size() - 4] ^ 1);
    write_file(directory / "best.json", text);
    expect_error(ExitCode::checkpoint, "best.json", [&] { store.restore(Selection::best()); });
    for (std::uint64_t step = 2; step <= 4; ++step) {
        const CommitReport report = save_step(store, step, 1);
        EXPECT_THAT(report.note, HasSubstr("best.json"));
        EXPECT_THAT(report.removed, IsEmpty());
    }
    EXPECT_EQ(store.list().size(), 4u);
    EXPECT_EQ(verify(directory.path()).findings.size(), 1u);
}

}  // namespace
}  // namespace mastic::test
