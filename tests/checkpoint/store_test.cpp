#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fault/checkpoint_state.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

#include <mastic/checkpoint/store.hpp>
#include <mastic/checkpoint/verify.hpp>
#include <mastic/core/file.hpp>

namespace mastic::checkpoint {
namespace {

using test::difference_from_step;
using test::expect_error;
using test::names_in;
using test::save_step;
using test::small_store_options;
using test::state_of_step;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

std::vector<std::uint64_t> steps_of(const CheckpointStore& store) {
    std::vector<std::uint64_t> steps;
    for (const GenerationPath& generation : store.list()) {
        steps.push_back(generation.step);
    }
    return steps;
}

class Store : public testing::Test {
  protected:
    const fs::path directory() const { return parent_ / "checkpoints"; }
    CheckpointStore store(RetentionRules rules = {}) const {
        StoreOptions options = small_store_options();
        options.retention = rules;
        options.now = [] { return std::string("2024-02-29T12:34:56Z"); };
        return CheckpointStore(directory(), options);
    }

  private:
    TempDir parent_;
};

TEST_F(Store, WithoutAnyCheckpointThereIsNothingToRestoreAndNothingIsMade) {
    EXPECT_FALSE(store().restore());
    EXPECT_FALSE(store().restore(Selection::best()));
    EXPECT_FALSE(store().restore(Selection::at_step(5)));
    EXPECT_FALSE(store().newest_valid());
    EXPECT_THAT(store().list(), IsEmpty());
    EXPECT_EQ(to_text(verify(directory())), "no checkpoints\n");
    EXPECT_FALSE(fs::exists(directory()));
}

TEST_F(Store, AnyNumberOfWritersGivesTheSameWholeTensors) {
    for (const int writers : {1, 2, 3, 5, 8}) {
        const auto step = static_cast<std::uint64_t>(writers);
        save_step(store(), step, writers);
        const auto restored = store().restore();
        ASSERT_TRUE(restored);
        EXPECT_EQ(difference_from_step(restored->state, step, writers), "") << writers;
        EXPECT_EQ(restored->manifest.world_size, writers);
        EXPECT_THAT(restored->skipped, IsEmpty());
    }
}

TEST_F(Store, AGenerationHasTheDocumentedFilesAndFacts) {
    std::vector<ShardRecord> records;
    for (int writer = 0; writer < 2; ++writer) {
        const ShardRecord record = store().write_shard(1234, writer, 2, state_of_step(1234, writer, 2));
        records.push_back(parse_shard_record(to_text(record)));
    }
    EXPECT_FALSE(store().newest_valid()) << "visible before the commit";
    store().commit({1234, 78976, 2, R"({"epoch":3})"}, records);
    EXPECT_THAT(names_in(directory()), ElementsAre("step-000000001234"));
    EXPECT_THAT(names_in(directory() / "step-000000001234"),
                ElementsAre("manifest.json", "shard-0-of-2.0.h5", "shard-0-of-2.1.h5", "shard-1-of-2.0.h5"));
    const auto found = store().newest_valid();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->manifest.step, 1234u);
    EXPECT_EQ(found->manifest.samples, 78976u);
    EXPECT_EQ(found->manifest.created, "2024-02-29T12:34:56Z");
    EXPECT_EQ(store().restore()->state.facts, R"({"epoch":3})");
}

TEST_F(Store, ABigTensorIsCutIntoImagesAndPutTogetherAgain) {
    std::vector<float> values(100000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i);
    }
    State state;
    state.entries.push_back(
        whole_entry("model/embedding", DataType::float32, {1000, 100}, std::as_bytes(std::span(values))));
    const ShardRecord record = store().write_shard(1, 0, 1, state);
    EXPECT_GT(record.files.size(), 6u);
    for (const FileRecord& file : record.files) {
        EXPECT_LE(file.bytes, smallest_image);
    }
    store().commit({1, 0, 1, "{}"}, std::span(&record, 1));
    const auto restored = store().restore();
    ASSERT_TRUE(restored);
    ASSERT_EQ(restored->state.entries.size(), 1u);
    EXPECT_TRUE(std::ranges::equal(restored->state.entries[0].bytes, std::as_bytes(std::span(values))));
}

TEST_F(Store, AStateWithoutTensorsIsSavedToo) {
    const ShardRecord record = store().write_shard(1, 0, 1, State{});
    store().commit({1, 0, 1, R"({"only":"facts"})"}, std::span(&record, 1));
    const auto restored = store().restore();
    ASSERT_TRUE(restored);
    EXPECT_THAT(restored->state.entries, IsEmpty());
    EXPECT_EQ(restored->state.facts, R"({"only":"facts"})");
}

TEST_F(Store, AFilterLoadsOnlyWhatIsWantedAndReadsOnlyThoseFiles) {
    save_step(store(), 1, 3);
    fs::remove(directory() / "step-000000000001" / shard_name(0, 3, 0));
    const auto restored =
        store().restore(Selection::newest(), [](const std::string& name) { return name == "rng/rank-2"; });
    ASSERT_TRUE(restored);
    ASSERT_EQ(restored->state.entries.size(), 1u);
    EXPECT_EQ(restored->state.entries[0].name, "rng/rank-2");
    expect_error(ExitCode::checkpoint, "shard-0-of-3.0.h5", [&] { store().restore(); });
}

TEST_F(Store, RetentionKeepsTheLastTheMilestonesAndTheBest) {
    const CheckpointStore kept = store({2, 100});
    for (std::uint64_t step = 25; step <= 250; step += 25) {
        save_step(kept, step, 1);
        if (step == 75) {
            kept.pin_best(step);
        }
    }
    EXPECT_THAT(steps_of(kept), ElementsAre(250, 225, 200, 100, 75));
    EXPECT_EQ(kept.best(), 75u);
    EXPECT_EQ(kept.restore(Selection::best())->manifest.step, 75u);
    EXPECT_EQ(kept.restore(Selection::at_step(100))->manifest.step, 100u);
    EXPECT_EQ(kept.restore()->manifest.step, 250u);
}

TEST_F(Store, ASelectionThatIsNotThereIsAnErrorThatSaysWhatIs) {
    save_step(store(), 1, 1);
    save_step(store(), 2, 1);
    expect_error(ExitCode::checkpoint, "those of the steps 2, 1",
                 [&] { store().restore(Selection::at_step(7)); });
    expect_error(ExitCode::checkpoint, "marked as the best", [&] { store().restore(Selection::best()); });
}

TEST_F(Store, ANewBestReplacesTheOldOne) {
    const CheckpointStore kept = store({1, 0});
    save_step(kept, 1, 1);
    kept.pin_best(1);
    save_step(kept, 2, 1);
    kept.pin_best(2);
    const CommitReport report = save_step(kept, 3, 1);
    EXPECT_THAT(report.removed, ElementsAre(1));
    EXPECT_THAT(steps_of(kept), ElementsAre(3, 2));
}

TEST_F(Store, SavingAStepAgainReplacesIt) {
    save_step(store(), 1, 2);
    save_step(store(), 1, 3);
    EXPECT_THAT(names_in(directory()), ElementsAre("step-000000000001"));
    EXPECT_EQ(difference_from_step(store().restore()->state, 1, 3), "");
}

TEST_F(Store, AReplacementThatWasInterruptedIsStillReadAndPutBackByTheNextWriter) {
    save_step(store(), 1, 1);
    fs::rename(directory() / "step-000000000001", directory() / "step-000000000001.replaced");
    EXPECT_EQ(store().restore()->manifest.step, 1u);
    store().remove_leftovers();
    EXPECT_THAT(names_in(directory()), ElementsAre("step-000000000001"));
}

TEST_F(Store, ADamagedReplacementLeavesTheOneThatWasSetAside) {
    save_step(store(), 1, 1);
    fs::copy(directory() / "step-000000000001", directory() / "step-000000000001.replaced");
    fs::remove(directory() / "step-000000000001" / "manifest.json");
    store().remove_leftovers();
    const auto restored = store().restore();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->skipped.size(), 1u);
    save_step(store(), 1, 1);
    EXPECT_THAT(names_in(directory()), ElementsAre("step-000000000001"));
}

TEST_F(Store, LeftoversOfAKilledRunAreRemovedByTheNextWriterAndIgnoredByReaders) {
    save_step(store(), 1, 1);
    store().write_shard(2, 0, 4, state_of_step(2, 0, 4));
    test::write_file(directory() / "step-000000000002.partial" / "shard-1-of-4.0.h5.tmp", "half");
    test::write_file(directory() / "best.json.tmp-17-0", "half");
    test::write_file(directory() / "notes.txt", "of the user");
    EXPECT_EQ(store().restore()->manifest.step, 1u);
    EXPECT_EQ(names_in(directory()).size(), 4u) << "a reader removed something";

    // Even without remove_leftovers, a commit keeps nothing of another number of writers.
    save_step(store(), 2, 2);
    EXPECT_THAT(names_in(directory() / "step-000000000002"),
                ElementsAre("manifest.json", "shard-0-of-2.0.h5", "shard-0-of-2.1.h5", "shard-1-of-2.0.h5"));
    store().remove_leftovers();
    EXPECT_THAT(names_in(directory()), ElementsAre("notes.txt", "step-000000000001", "step-000000000002"));
}

TEST_F(Store, CommitRefusesRecordsThatAreNotOnePerWriterOrLeaveAGap) {
    const ShardRecord first = store().write_shard(1, 0, 2, state_of_step(1, 0, 2));
    const std::vector<ShardRecord> twice = {first, first};
    expect_error(ExitCode::usage, "writer 0 of 2", [&] { store().commit({1, 0, 2, "{}"}, twice); });
    expect_error(ExitCode::usage, "among 1 records", [&] { store().commit({1, 0, 2, "{}"}, {&first, 1}); });
    ShardRecord alone = store().write_shard(1, 0, 1, state_of_step(1, 0, 2));
    expect_error(ExitCode::checkpoint, "model/fc.weight", [&] {
        store().commit({1, 0, 1, "{}"}, {&alone, 1});
    });
    EXPECT_THAT(names_in(directory()), IsEmpty());
}

TEST_F(Store, WhatDoesNotReadBackIsNotCommittedAndTheOldOneStays) {
    const CheckpointStore kept = store({1, 0});
    save_step(kept, 1, 1);
    const ShardRecord record = kept.write_shard(2, 0, 1, state_of_step(2, 0, 1));
    const fs::path shard = directory() / "step-000000000002.partial" / record.files[0].name;
    std::string content = read_text_file(shard);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    test::write_file(shard, content);
    expect_error(ExitCode::io, "does not read back", [&] { kept.commit({2, 0, 1, "{}"}, {&record, 1}); });
    EXPECT_THAT(names_in(directory()), ElementsAre("step-000000000001"));
    EXPECT_EQ(difference_from_step(kept.restore()->state, 1, 1), "");
}

TEST_F(Store, GoingBackOnPurposeDiscardsTheNewerOnes) {
    for (std::uint64_t step = 1; step <= 3; ++step) {
        save_step(store({3, 0}), step, 1);
    }
    store().discard_newer_than(1);
    EXPECT_THAT(names_in(directory()), ElementsAre("step-000000000001"));
}

TEST_F(Store, AForeignDirectoryIsNoGeneration) {
    save_step(store(), 1, 1);
    for (const char* name : {"step-7", "step-000000000009x", "step-", "other"}) {
        fs::create_directory(directory() / name);
    }
    EXPECT_THAT(steps_of(store()), ElementsAre(1));
    EXPECT_THAT(store().restore()->skipped, IsEmpty());
}

TEST_F(Store, AGenerationCopiedToAnotherStepIsRefused) {
    save_step(store(), 1, 1);
    fs::copy(directory() / "step-000000000001", directory() / "step-000000000005");
    const auto restored = store().restore();
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->manifest.step, 1u);
    ASSERT_EQ(restored->skipped.size(), 1u);
    EXPECT_THAT(restored->skipped[0].reason, HasSubstr("belongs to step 1"));
}

}  // namespace
}  // namespace mastic::checkpoint
