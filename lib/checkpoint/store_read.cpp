// The reading half of CheckpointStore, and its pin.
#include <algorithm>
#include <nlohmann/json.hpp>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::checkpoint {

namespace {

constexpr const char* best_name = "best.json";

// Tries `use` on each candidate; the first that does not throw Error(checkpoint) wins. `skipped` gets the
// others.
template <class Use>
auto first_usable(const std::filesystem::path& directory, const std::vector<GenerationPath>& candidates,
                  std::vector<Skipped>& skipped, Use use) -> decltype(use(candidates.front())) {
    for (const GenerationPath& candidate : candidates) {
        try {
            return use(candidate);
        } catch (const Error& error) {
            if (error.code() != ExitCode::checkpoint) {
                throw;
            }
            skipped.push_back({candidate.name(), error.what()});
        }
    }
    if (skipped.empty()) {
        return std::nullopt;
    }
    std::string message = "no checkpoint in " + directory.string() + " is usable:";
    for (const Skipped& one : skipped) {
        message += "\n  " + one.generation + ": " + one.reason;
    }
    throw Error(ExitCode::checkpoint, message, "to start from step 0, move this directory away");
}

}  // namespace

std::vector<GenerationPath> CheckpointStore::list() const {
    std::vector<GenerationPath> generations = find_generations(directory_);
    std::erase_if(generations, [](const GenerationPath& g) { return g.status == GenerationStatus::partial; });
    return generations;
}

std::vector<GenerationPath> CheckpointStore::candidates(const Selection& selection) const {
    std::vector<GenerationPath> all = list();
    if (all.empty() || selection.kind == Selection::Kind::newest) {
        return all;
    }
    const bool pinned = selection.kind == Selection::Kind::best;
    const std::optional<std::uint64_t> step = pinned ? best() : std::optional(selection.step);
    if (!step) {
        throw Error(ExitCode::checkpoint,
                    "no checkpoint in " + directory_.string() + " is marked as the best");
    }
    const std::string wanted_name = generation_path({}, *step).string();
    std::string existing;
    for (const GenerationPath& generation : all) {
        existing += (existing.empty() ? "" : ", ") + std::to_string(generation.step);
    }
    std::erase_if(all, [&](const GenerationPath& g) { return g.step != *step; });
    if (all.empty()) {
        throw Error(ExitCode::checkpoint, directory_.string() + " has no checkpoint " + wanted_name,
                    "it has those of the steps " + existing);
    }
    return all;
}

std::optional<ValidGeneration> CheckpointStore::newest_valid() const {
    std::vector<Skipped> skipped;
    auto found = first_usable(directory_, candidates(Selection::newest()), skipped,
                              [](const GenerationPath& candidate) -> std::optional<ValidGeneration> {
                                  const CheckpointManifest manifest = read_generation_manifest(candidate);
                                  check_coverage(manifest);
                                  const std::vector<Finding> findings = check_generation(candidate, manifest);
                                  if (!findings.empty()) {
                                      throw Error(ExitCode::checkpoint, to_text(findings.front()));
                                  }
                                  return ValidGeneration{candidate, manifest, {}};
                              });
    if (found) {
        found->skipped = std::move(skipped);
    }
    return found;
}

std::optional<Restored> CheckpointStore::restore(const Selection& selection, const NameFilter& wanted) const {
    std::vector<Skipped> skipped;
    auto found = first_usable(directory_, candidates(selection), skipped,
                              [&](const GenerationPath& candidate) -> std::optional<Restored> {
                                  const CheckpointManifest manifest = read_generation_manifest(candidate);
                                  return Restored{load_generation(candidate, manifest, wanted), manifest, {}};
                              });
    if (found) {
        found->skipped = std::move(skipped);
    }
    return found;
}

void CheckpointStore::pin_best(std::uint64_t step) const {
    write_file_atomically(directory_ / best_name, frame_json(nlohmann::json({{"step", step}}).dump()));
}

std::optional<std::uint64_t> CheckpointStore::best() const {
    const std::filesystem::path path = directory_ / best_name;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        return std::nullopt;
    }
    try {
        return nlohmann::json::parse(unframe_json(read_text_file(path))).at("step").get<std::uint64_t>();
    } catch (const std::exception& problem) {
        throw Error(ExitCode::checkpoint, path.string() + ": " + problem.what(),
                    "remove it, or restore a numbered checkpoint");
    }
}

}  // namespace mastic::checkpoint
