#include <gmock/gmock.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

#include <mastic/checkpoint/image.hpp>
#include <mastic/checkpoint/shape.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/random.hpp>

namespace mastic::checkpoint {
namespace {

using test::expect_error;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;

// An entry with random bytes that it owns.
StateEntry entry_of(const std::string& name, DataType type, const std::vector<std::int64_t>& shape) {
    auto data = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(element_count(shape)) *
                                                         size_of(type));
    CounterRandom random(checksum(std::as_bytes(std::span(name))));
    for (std::byte& byte : *data) {
        byte = static_cast<std::byte>(random.next());
    }
    return whole_entry(name, type, shape, *data, data);
}

StateEntry slice_of(StateEntry entry, std::vector<std::int64_t> global_shape,
                    std::vector<std::int64_t> offset) {
    entry.global_shape = std::move(global_shape);
    entry.offset = std::move(offset);
    return entry;
}

std::vector<StateEntry> decode(const Image& image) {
    return decode_image(image.bytes, image.owner, checksum(image.bytes), "test.h5");
}

void expect_same(const StateEntry& have, const StateEntry& want) {
    EXPECT_EQ(have.name, want.name);
    EXPECT_EQ(have.type, want.type) << want.name;
    EXPECT_EQ(have.shape, want.shape) << want.name;
    EXPECT_EQ(have.offset, want.offset) << want.name;
    EXPECT_EQ(have.global_shape, want.global_shape) << want.name;
    EXPECT_TRUE(std::ranges::equal(have.bytes, want.bytes)) << want.name;
}

void expect_round_trip(std::vector<StateEntry> entries) {
    std::vector<StateEntry> decoded = decode(encode_image(entries));
    ASSERT_EQ(decoded.size(), entries.size());
    const auto by_name_and_offset = [](const StateEntry& a, const StateEntry& b) {
        return std::tie(a.name, a.offset) < std::tie(b.name, b.offset);
    };
    std::ranges::sort(entries, by_name_and_offset);
    std::ranges::sort(decoded, by_name_and_offset);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        expect_same(decoded[i], entries[i]);
    }
}

constexpr DataType all_types[] = {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                                  DataType::int8,    DataType::uint8,   DataType::int16,   DataType::int32,
                                  DataType::int64,   DataType::boolean};

TEST(Image, EveryTypeAndShapeComesBack) {
    const std::vector<std::vector<std::int64_t>> shapes = {
        {}, {1}, {0}, {5}, {3, 4}, {2, 0, 3}, {2, 1, 3, 2, 1}};
    std::vector<StateEntry> entries;
    for (const DataType type : all_types) {
        for (const auto& shape : shapes) {
            entries.push_back(entry_of(std::string(to_string(type)) + "/" + to_string(shape), type, shape));
        }
    }
    expect_round_trip(entries);
}

TEST(Image, SlicesOfOneTensorComeBack) {
    expect_round_trip({slice_of(entry_of("model/w", DataType::float32, {2, 3}), {8, 3}, {0, 0}),
                       slice_of(entry_of("model/w", DataType::float32, {3, 3}), {8, 3}, {5, 0}),
                       slice_of(entry_of("model/w", DataType::float32, {2, 1}), {8, 3}, {2, 2}),
                       entry_of("model/w@9", DataType::int8, {4})});
}

TEST(Image, AnEmptyListIsAnImageToo) {
    expect_round_trip({});
}

TEST(Image, ManyDeepNamesComeBack) {
    std::vector<StateEntry> entries;
    for (int i = 0; i < 500; ++i) {
        const std::string n = std::to_string(i);
        entries.push_back(
            entry_of("model/block" + n + "/attention/query " + n + "/weight", DataType::float32, {3}));
    }
    expect_round_trip(entries);
}

TEST(Image, EqualEntriesGiveEqualBytes) {
    const std::vector<StateEntry> entries = {entry_of("a/b", DataType::float32, {100}),
                                             entry_of("c", DataType::int64, {})};
    const Image first = encode_image(entries);
    const Image second = encode_image(entries);
    EXPECT_TRUE(std::ranges::equal(first.bytes, second.bytes));
}

TEST(Image, RecordsSayWhereTheBytesLieAndWhatTheirChecksumIs) {
    const std::vector<StateEntry> entries = {entry_of("a/b", DataType::float32, {100}),
                                             entry_of("none", DataType::float32, {0}),
                                             entry_of("c", DataType::int64, {})};
    const Image image = encode_image(entries);
    ASSERT_EQ(image.datasets.size(), entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const DatasetRecord& record = image.datasets[i];
        EXPECT_EQ(record.name, entries[i].name);
        EXPECT_EQ(record.checksum, checksum(entries[i].bytes));
        EXPECT_TRUE(std::ranges::equal(image.bytes.subspan(record.position, record.bytes), entries[i].bytes));
    }
}

TEST(Image, AnEntryThatDoesNotFitItsShapeIsRefused) {
    const StateEntry good = entry_of("model/w", DataType::float32, {2, 3});
    const auto refuse = [&](const char* part, const std::function<void(StateEntry&)>& spoil) {
        StateEntry entry = good;
        spoil(entry);
        expect_error(ExitCode::usage, part, [&] { encode_image(std::span(&entry, 1)); });
    };
    refuse("needs 24", [](StateEntry& e) { e.bytes = e.bytes.first(20); });
    refuse("number of dimensions", [](StateEntry& e) { e.offset = {0}; });
    refuse("leaves", [](StateEntry& e) { e.offset = {1, 0}; });
    for (const char* name : {"", "/a", "a/", "a//b", "a/../b", ".", "a\nb"}) {
        refuse("not a path", [&](StateEntry& e) { e.name = name; });
    }
    const std::vector<StateEntry> twice = {good, good};
    expect_error(ExitCode::usage, "occurs twice", [&] { encode_image(twice); });
    const std::vector<StateEntry> inside_dataset = {good, entry_of("model/w/x", DataType::int8, {1})};
    expect_error(ExitCode::usage, "model/w/x", [&] { encode_image(inside_dataset); });
}

TEST(Image, AChangedByteAnywhereIsRefusedBeforeHdf5SeesIt) {
    const std::vector<StateEntry> entries = {entry_of("model/w", DataType::float32, {2, 3})};
    const Image image = encode_image(entries);
    const std::uint64_t sum = checksum(image.bytes);
    std::vector<std::byte> changed(image.bytes.begin(), image.bytes.end());
    for (std::size_t i = 0; i < changed.size(); ++i) {
        changed[i] ^= std::byte{0x10};
        expect_error(ExitCode::checkpoint, "shard.h5: the checksum of the file",
                     [&] { decode_image(changed, nullptr, sum, "shard.h5"); });
        changed[i] ^= std::byte{0x10};
    }
}

TEST(Image, ADataSetWhoseOwnChecksumDoesNotHoldIsNamed) {
    const std::vector<StateEntry> entries = {entry_of("model/w", DataType::float32, {2, 3}),
                                             entry_of("model/x", DataType::float32, {2, 3})};
    const Image image = encode_image(entries);
    std::vector<std::byte> changed(image.bytes.begin(), image.bytes.end());
    changed[image.datasets[1].position] ^= std::byte{1};
    expect_error(ExitCode::checkpoint, "shard.h5: data set model/x: its checksum does not hold",
                 [&] { decode_image(changed, nullptr, checksum(changed), "shard.h5"); });
}

TEST(Image, WhatIsNoImageOfOursIsAnErrorAndNoCrash) {
    const std::vector<std::byte> noise(4096, std::byte{7});
    expect_error(ExitCode::checkpoint, "not readable as HDF5",
                 [&] { decode_image(noise, nullptr, checksum(noise), "noise.h5"); });
}

TEST(Image, AnyHdf5ProgramReadsIt) {
    const TempDir directory;
    std::vector<float> values = {1.5f, -2.0f, 3.25f};
    const std::uint16_t halves[] = {0x3C00, 0xC000};  // 1 and -2
    const std::vector<StateEntry> entries = {
        whole_entry("model/bias", DataType::float32, {3}, std::as_bytes(std::span(values))),
        whole_entry("model/half", DataType::float16, {2}, std::as_bytes(std::span(halves)))};
    const Image image = encode_image(entries);
    const auto* text = reinterpret_cast<const char*>(image.bytes.data());
    const std::string path = directory.write("image.h5", {text, image.bytes.size()});

    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    const auto read = [&](const char* name, std::size_t count) {
        std::vector<float> read_values(count);
        const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        EXPECT_GE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read_values.data()), 0);
        EXPECT_GT(H5Aexists(dataset, "xxh3"), 0);
        H5Dclose(dataset);
        return read_values;
    };
    EXPECT_EQ(read("/model/bias", 3), values);
    EXPECT_THAT(read("/model/half", 2), ElementsAre(1.0f, -2.0f));
    H5Fclose(file);
}

TEST(ImagePlan, NoImageExceedsTheLimitAndNothingIsLostOrMovedOutOfOrder) {
    std::vector<StateEntry> entries;
    for (int i = 0; i < 60; ++i) {
        entries.push_back(entry_of("some/small/group" + std::to_string(i) + "/w", DataType::float32, {i}));
    }
    entries.push_back(entry_of("rows", DataType::float64, {1000, 50}));
    entries.push_back(entry_of("scalar", DataType::int64, {}));
    entries.push_back(entry_of("one/long/row", DataType::uint8, {1, 1, 300000}));
    entries.push_back(entry_of("two/long/rows", DataType::int16, {2, 70000}));
    entries.push_back(entry_of("empty", DataType::float32, {0, 9}));

    const auto images = plan_images(entries, smallest_image);
    EXPECT_GT(images.size(), 10u);
    std::vector<std::byte> planned;
    for (const auto& list : images) {
        EXPECT_LE(encode_image(list).bytes.size(), smallest_image);
        for (const StateEntry& piece : list) {
            planned.insert(planned.end(), piece.bytes.begin(), piece.bytes.end());
        }
    }
    std::vector<std::byte> wanted;
    for (const StateEntry& entry : entries) {
        wanted.insert(wanted.end(), entry.bytes.begin(), entry.bytes.end());
    }
    EXPECT_EQ(planned, wanted);
    EXPECT_TRUE(std::ranges::any_of(images, [](const auto& list) { return list.back().name == "empty"; }));
}

TEST(ImagePlan, WhatFitsStaysTogether) {
    const std::vector<StateEntry> entries = {entry_of("a", DataType::float32, {1000}),
                                             entry_of("b", DataType::float32, {1000})};
    const auto images = plan_images(entries, std::uint64_t{256} << 20);
    ASSERT_EQ(images.size(), 1u);
    EXPECT_EQ(images[0].size(), 2u);
    EXPECT_TRUE(plan_images({}, smallest_image).empty());
}

TEST(ImagePlan, AUselesslySmallLimitIsRefused) {
    expect_error(ExitCode::usage, "use at least 64K", [] { plan_images({}, 1000); });
}

}  // namespace
}  // namespace mastic::checkpoint
