// One generation of a checkpoint on disk: a directory with shards and a manifest. Reading and proving it.
//
// DIRECTORY/step-000000001234/           a committed generation: manifest.json and all the shards that it
// names DIRECTORY/step-000000001234.replaced/  the same, set aside while another save of that step takes its
// place DIRECTORY/step-000000001234.partial/   being written, or being removed: never read
// DIRECTORY/best.json                    the pinned generation
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <mastic/checkpoint/manifest.hpp>
#include <mastic/checkpoint/state.hpp>

namespace mastic::checkpoint {

enum class GenerationStatus { committed, replaced, partial };

struct GenerationPath {
    std::uint64_t step = 0;
    GenerationStatus status = GenerationStatus::committed;
    std::filesystem::path path;
    std::string name() const { return path.filename().string(); }
};

inline constexpr const char* manifest_name = "manifest.json";
std::string shard_name(int writer, int writers, std::size_t image);  // "shard-0-of-4.2.h5"
std::filesystem::path generation_path(const std::filesystem::path& directory, std::uint64_t step,
                                      GenerationStatus status = GenerationStatus::committed);

// All generations in the directory, newest first, at one step committed before replaced before partial. A
// directory that does not exist has none. Throws Error(io) if it cannot be read.
std::vector<GenerationPath> find_generations(const std::filesystem::path& directory);

// One thing that is wrong. `dataset` is empty if the file as a whole is meant.
struct Finding {
    std::string file;
    std::string dataset;
    std::string what;
};
std::string to_text(const Finding& finding);  // "shard-0-of-1.0.h5: data set model/fc.weight: ..."

// Throws Error(checkpoint), naming the file, if it is missing or does not hold, or belongs to another step.
CheckpointManifest read_generation_manifest(const GenerationPath& generation);

// What is wrong with a file's content: nothing if it has its size and checksum. Else each data set whose
// bytes changed is named, or the file's structure. HDF5 is not asked.
std::vector<Finding> check_file(std::span<const std::byte> content, const FileRecord& record);

// Reads one file into `content` and checks it; what cannot be read is a finding too. A cut file is found by
// its size, without reading it.
std::vector<Finding> read_and_check(const GenerationPath& generation, const FileRecord& record,
                                    std::vector<std::byte>& content);

// Reads every file of the generation.
std::vector<Finding> check_generation(const GenerationPath& generation, const CheckpointManifest& manifest);

// True for the names that a reader wants; null means all.
using NameFilter = std::function<bool(const std::string& name)>;

// Reads, proves and assembles: slices become whole tensors, in the manifest's order. Files that hold nothing
// wanted are not read. Peak memory: the wanted tensors and one image. Throws Error(checkpoint) naming file
// and data set.
State load_generation(const GenerationPath& generation, const CheckpointManifest& manifest,
                      const NameFilter& wanted = nullptr);

}  // namespace mastic::checkpoint
