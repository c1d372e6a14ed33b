#include <mastic/checkpoint/generation.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "step-";
constexpr int step_digits = 12;

const char* suffix_of(GenerationStatus status) {
    switch (status) {
        case GenerationStatus::committed:
            return "";
        case GenerationStatus::replaced:
            return ".replaced";
        case GenerationStatus::partial:
            break;
    }
    return ".partial";
}

std::optional<GenerationPath> parse_generation(const fs::path& path) {
    const std::string name = path.filename().string();
    if (!name.starts_with(prefix)) {
        return std::nullopt;
    }
    const char* end = name.data() + name.size();
    GenerationPath generation;
    generation.path = path;
    const auto [rest, problem] = std::from_chars(name.data() + prefix.size(), end, generation.step);
    if (problem != std::errc()) {
        return std::nullopt;
    }
    for (const auto status :
         {GenerationStatus::committed, GenerationStatus::replaced, GenerationStatus::partial}) {
        generation.status = status;
        // Compared with the canonical name, so that "step-7" or "step-000000000007x" are nobody's generation.
        if (generation_path(path.parent_path(), generation.step, status) == path) {
            return generation;
        }
    }
    return std::nullopt;
}

Finding wrong_size(const FileRecord& record, std::uintmax_t size) {
    return {
        record.name, "",
        "holds " + std::to_string(size) + " bytes where " + std::to_string(record.bytes) + " were written"};
}

}  // namespace

std::string shard_name(int writer, int writers, std::size_t image) {
    return "shard-" + std::to_string(writer) + "-of-" + std::to_string(writers) + "." +
           std::to_string(image) + ".h5";
}

fs::path generation_path(const fs::path& directory, std::uint64_t step, GenerationStatus status) {
    std::string digits = std::to_string(step);
    digits.insert(0, digits.size() < step_digits ? step_digits - digits.size() : 0, '0');
    return directory / (std::string(prefix) + digits + suffix_of(status));
}

std::vector<GenerationPath> find_generations(const fs::path& directory) {
    std::vector<GenerationPath> generations;
    std::error_code error;
    for (fs::directory_iterator item(directory, error), end; !error && item != end; item.increment(error)) {
        std::error_code ignored;
        if (item->is_directory(ignored)) {
            if (auto generation = parse_generation(item->path())) {
                generations.push_back(std::move(*generation));
            }
        }
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        throw_file_error("read the directory", directory, error.value());
    }
    std::sort(generations.begin(), generations.end(), [](const GenerationPath& a, const GenerationPath& b) {
        return a.step != b.step ? a.step > b.step : a.status < b.status;
    });
    return generations;
}

std::string to_text(const Finding& finding) {
    return finding.file + ": " + (finding.dataset.empty() ? "" : "data set " + finding.dataset + ": ") +
           finding.what;
}

CheckpointManifest read_generation_manifest(const GenerationPath& generation) {
    const auto refuse = [](const std::string& why) {
        throw Error(ExitCode::checkpoint, std::string(manifest_name) + ": " + why);
    };
    CheckpointManifest manifest;
    try {
        manifest = parse_manifest(read_text_file(generation.path / manifest_name));
    } catch (const Error& error) {
        refuse(error.what());
    }
    if (manifest.step != generation.step) {
        refuse("belongs to step " + std::to_string(manifest.step));
    }
    return manifest;
}

std::vector<Finding> check_file(std::span<const std::byte> content, const FileRecord& record) {
    if (content.size() != record.bytes) {
        return {wrong_size(record, content.size())};
    }
    if (checksum(content) == record.checksum) {
        return {};
    }
    std::vector<Finding> findings;
    for (const DatasetRecord& dataset : record.datasets) {
        if (checksum(content.subspan(dataset.position, dataset.bytes)) != dataset.checksum) {
            findings.push_back({record.name, dataset.name, "its checksum does not hold"});
        }
    }
    if (findings.empty()) {
        findings.push_back(
            {record.name, "", "the checksum of the file does not hold (outside of its data sets)"});
    }
    return findings;
}

std::vector<Finding> read_and_check(const GenerationPath& generation, const FileRecord& record,
                                    std::vector<std::byte>& content) {
    const fs::path path = generation.path / record.name;
    std::error_code unreadable;
    const std::uintmax_t size = fs::file_size(path, unreadable);
    if (!unreadable && size != record.bytes) {
        return {wrong_size(record, size)};
    }
    try {
        content = read_file(path);
    } catch (const Error& error) {
        return {{record.name, "", error.what()}};
    }
    return check_file(content, record);
}

std::vector<Finding> check_generation(const GenerationPath& generation, const CheckpointManifest& manifest) {
    std::vector<Finding> findings;
    for (const FileRecord& record : manifest.files) {
        std::vector<std::byte> content;
        std::ranges::move(read_and_check(generation, record, content), std::back_inserter(findings));
    }
    return findings;
}

}  // namespace mastic::checkpoint
