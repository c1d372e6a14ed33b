#include <cstring>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <mastic/core/file.hpp>
#include <mastic/model/export.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/registry.hpp>
#include <mastic/model/weights_file.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::model {
namespace {

using test::expect_error;

// A file with this header and `data_bytes` zeros behind it.
std::string file_with(const std::string& header, std::size_t data_bytes) {
    const std::uint64_t size = header.size();
    std::string content(sizeof size, '\0');
    std::memcpy(content.data(), &size, sizeof size);
    return content + header + std::string(data_bytes, '\0');
}

TEST(WeightsFile, GivesBackEveryTypeAndShape) {
    const test::TempDir directory;
    NamedTensors tensors;
    for (const auto type : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong,
                            torch::kInt, torch::kShort, torch::kChar, torch::kByte, torch::kBool}) {
        tensors.emplace_back(std::string("of type ") + c10::toString(type), torch::ones({3}, type));
    }
    tensors.emplace_back("transposed", torch::arange(6).reshape({2, 3}).t());
    tensors.emplace_back("scalar", torch::tensor(1.5));
    tensors.emplace_back("empty", torch::zeros({0, 4}));
    tensors.emplace_back("with \"quotes\" and ä", torch::zeros({1}));
    write_weights(directory / "w.safetensors", tensors, {{"format", "pt"}});
    const auto back = read_weights(directory / "w.safetensors");
    ASSERT_EQ(back.size(), tensors.size());
    for (const auto& [name, tensor] : tensors) {
        const auto found =
            std::find_if(back.begin(), back.end(), [&](const auto& entry) { return entry.first == name; });
        ASSERT_NE(found, back.end()) << name;
        EXPECT_EQ(found->second.scalar_type(), tensor.scalar_type()) << name;
        EXPECT_TRUE(found->second.equal(tensor)) << name;
    }
}

TEST(WeightsFile, HasTheBytesThatTheFormatSays) {
    const test::TempDir directory;
    write_weights(directory / "w", {{"a", torch::tensor({1.0f})}});
    const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    const std::string content = read_text_file(directory / "w");
    EXPECT_EQ(content.substr(8, header.size()), header);
    EXPECT_EQ(static_cast<unsigned char>(content[0]), (header.size() + 7) / 8 * 8);
    EXPECT_EQ(content.substr(content.size() - 4), std::string("\0\0\x80\x3f", 4));
}

TEST(WeightsFile, RefusesHostileFiles) {
    const std::string tensor = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";
    const struct {
        std::string content, part;
    } cases[] = {
        {"", "only 0 bytes"},
        {"\x01\x02", "only 2 bytes"},
        {"<html><body>not found</body></html>", "does not fit"},
        {std::string(8, '\xff'), "does not fit"},
        {file_with("[]", 0), "not a JSON object"},
        {file_with("{", 0), "not JSON"},
        {file_with(std::string(100000, '['), 0), "nested too deeply"},
        {file_with("{\"a\":1}", 0), "is missing"},
        {file_with(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "is missing"},
        {file_with(R"({"a":{"dtype":"F12","shape":[1],"data_offsets":[0,4]}})", 4), "unknown dtype"},
        {file_with(R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4), "unknown dtype"},
        {file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 8), "do not lie"},
        {file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4), "do not lie"},
        {file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4), "do not lie"},
        {file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4), "instead of a size"},
        {file_with(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4), "instead of a size"},
        {file_with(R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4), "not a list"},
        {file_with(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4), "needs 8 bytes, not 4"},
        {file_with(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", 4),
         "too large"},
        {file_with(R"({"a":{"dtype":"F32","shape":[9223372036854775808,0],"data_offsets":[0,0]}})", 0),
         "too large"},
        {file_with("{\"a\":{" + tensor + "},\"b\":{" + tensor + "}}", 4), "overlaps"},
        {file_with("{\"a\":{" + tensor + "},\"a\":{" + tensor + "}}", 4), "twice"},
        {file_with(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2), "hole"},
        {file_with("{\"a\":{" + tensor + "}}", 5), "1 bytes at its end"},
    };
    const test::TempDir directory;
    for (const auto& hostile : cases) {
        const auto path = directory.write("hostile", hostile.content);
        expect_error(ExitCode::data, hostile.part, [&] { read_weights(path); });
    }
    expect_error(ExitCode::data, "cannot read", [&] { read_weights(directory / "absent"); });
}

TEST(WeightsFile, CutAnywhereIsNoticed) {
    const test::TempDir directory;
    write_weights(directory / "whole", {{"a", torch::ones({4})}, {"b", torch::ones({2}, torch::kLong)}});
    const std::string whole = read_text_file(directory / "whole");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto path = directory.write("cut", whole.substr(0, size));
        EXPECT_THROW(read_weights(path), Error) << size;
    }
}

class InitialWeights : public testing::Test {
  protected:
    std::shared_ptr<Network> network(int seed, std::int64_t classes = 10) const {
        torch::manual_seed(seed);
        return create_network({.name = "resnet18", .width = 2}, {{3, 8, 8}, classes});
    }
    std::filesystem::path exported(const Network& from) const {
        export_safetensors(from, directory_ / "w.safetensors");
        return directory_ / "w.safetensors";
    }
    test::TempDir directory_;
};

TEST_F(InitialWeights, CarryParametersAndBuffers) {
    const auto from = network(1), to = network(2);
    from->forward(torch::randn({4, 3, 8, 8}));  // moves the running statistics
    const auto report = load_initial_weights(*to, exported(*from));
    const auto expected = named_weights(*from), loaded = named_weights(*to);
    EXPECT_EQ(report.loaded, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(loaded[i].second.equal(expected[i].second)) << expected[i].first;
    }
}

TEST_F(InitialWeights, OfAnotherHeadAreRefusedUnlessWanted) {
    const auto from = network(1, 10), to = network(2, 4);
    const auto before = named_weights(*to)[0].second.clone();
    const auto path = exported(*from);
    expect_error(ExitCode::data, "fc.weight: (4, 16) in the network, (10, 16) in the file",
                 [&] { load_initial_weights(*to, path); });
    EXPECT_TRUE(named_weights(*to)[0].second.equal(before));

    const auto report = load_initial_weights(*to, path, false);
    EXPECT_EQ(report.misshapen.size(), 2u);
    EXPECT_EQ(report.loaded, named_weights(*to).size() - 2);
    EXPECT_TRUE(named_weights(*to)[0].second.equal(named_weights(*from)[0].second));
}

TEST_F(InitialWeights, OfAnotherModelAreRefusedByName) {
    write_weights(directory_ / "other", {{"conv.weight", torch::zeros({1})}});
    for (const bool strict : {true, false}) {
        expect_error(ExitCode::data, "unexpected: conv.weight",
                     [&] { load_initial_weights(*network(1), directory_ / "other", strict); });
    }
}

TEST_F(InitialWeights, AreAModelOption) {
    const auto from = network(1);
    ModelOptions options{.name = "resnet18", .init = exported(*from), .width = 2};
    const auto to = create_network(options, {{3, 8, 8}, 10});
    EXPECT_TRUE(to->parameters()[0].equal(from->parameters()[0]));
}

}  // namespace
}  // namespace mastic::model
