// A folder of lib/ may include only itself and folders above it in this list; some libraries stay in some folders.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace mastic {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> folder_order = {"core",      "config",     "job",     "report",   "data",
                                               "model",     "comm",       "tuning",  "interposer", "gradient", "optimizer",
                                               "checkpoint", "elastic",   "schedule", "colocation", "engine"};

struct Include {
    fs::path file;  // relative to lib/
    std::string header;
};

std::vector<Include> all_includes() {
    static const std::regex pattern(R"(^\s*#include\s+[<"]([^>"]+)[>"])");
    std::vector<Include> includes;
    for (const auto& entry : fs::recursive_directory_iterator(MASTIC_LIB)) {
        const std::string extension = entry.path().extension();
        if (extension != ".hpp" && extension != ".cpp" && extension != ".cu") {
            continue;
        }
        std::ifstream file(entry.path());
        std::smatch match;
        for (std::string line; std::getline(file, line);) {
            if (std::regex_search(line, match, pattern)) {
                includes.push_back({fs::relative(entry.path(), MASTIC_LIB), match[1]});
            }
        }
    }
    return includes;
}

std::ptrdiff_t position(const std::string& folder) {
    return std::ranges::find(folder_order, folder) - folder_order.begin();
}

std::string first_folder(const fs::path& path) { return *path.begin(); }

// Headers that start with `prefix` may be included below these folders only.
void expect_only_in(const std::string& prefix, const std::vector<std::string>& folders) {
    for (const Include& include : all_includes()) {
        if (include.header.starts_with(prefix)) {
            EXPECT_TRUE(std::ranges::any_of(
                folders, [&](const std::string& folder) { return include.file.string().starts_with(folder + "/"); }))
                << include.file << " includes " << include.header;
        }
    }
}

TEST(IncludeRule, FoldersIncludeOnlyFoldersAboveThem) {
    for (const Include& include : all_includes()) {
        if (!include.header.starts_with("mastic/")) {
            continue;
        }
        const std::string from = first_folder(include.file);
        const std::string to = first_folder(include.header.substr(7));
        ASSERT_LT(position(from), std::ssize(folder_order)) << from << " is not in the list";
        ASSERT_LT(position(to), std::ssize(folder_order)) << to << " is not in the list";
        EXPECT_LE(position(to), position(from)) << include.file << " includes " << include.header;
    }
}

TEST(IncludeRule, OwnHeadersAreIncludedByTheirInstalledName) {
    for (const Include& include : all_includes()) {
        EXPECT_TRUE(include.header.starts_with("mastic/") || !fs::exists(fs::path(MASTIC_LIB) / include.header))
            << include.file << " includes " << include.header;
    }
}

// Then each header is known to compile alone. Those without a source file have a check of their own.
TEST(IncludeRule, ASourceFileIncludesItsOwnHeaderFirst) {
    std::set<fs::path> seen;
    for (const Include& include : all_includes()) {
        const fs::path header = fs::path(include.file).replace_extension(".hpp");
        if (include.file != header && seen.insert(include.file).second && fs::exists(MASTIC_LIB / header)) {
            EXPECT_EQ(include.header, "mastic/" + header.string()) << include.file;
        }
    }
}

TEST(IncludeRule, MpiStaysInItsBackendAndTheInterposer) { expect_only_in("mpi.h", {"comm/mpi", "interposer"}); }

TEST(IncludeRule, CudaAndNcclStayInTheirBackends) {
    expect_only_in("cuda", {"comm/cuda", "comm/nccl"});
    expect_only_in("nccl", {"comm/nccl"});
}

TEST(IncludeRule, TorchStaysInTheFoldersOfTensors) {
    expect_only_in("torch/", {"model", "gradient", "optimizer", "engine"});
    expect_only_in("ATen/", {"model", "gradient", "optimizer", "engine"});
}

// So that it starts at once, and is there on login nodes.
TEST(IncludeRule, TheFrontOfTheTrainerStandsOnNothingOfTorch) {
    for (const Include& include : all_includes()) {
        const bool torch_folder = include.header.starts_with("mastic/engine/") || include.header.starts_with("mastic/model/");
        if (include.file.string().starts_with("engine/front/") && torch_folder) {
            EXPECT_TRUE(include.header.starts_with("mastic/engine/front/") || include.header == "mastic/model/model_catalog.hpp")
                << include.file << " includes " << include.header;
        }
    }
}

TEST(IncludeRule, Hdf5StaysWhereFilesAreRead) { expect_only_in("hdf5", {"data", "checkpoint", "engine"}); }

TEST(IncludeRule, ParsersStayBehindConfig) {
    expect_only_in("CLI/", {"config"});
    expect_only_in("toml++/", {"config"});
}

}  // namespace
}  // namespace mastic
