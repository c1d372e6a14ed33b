#include <mastic/checkpoint/verify.hpp>

#include <algorithm>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {
namespace {

GenerationReport verify_generation(const GenerationPath& generation) {
    GenerationReport report;
    report.name = generation.name();
    report.step = generation.step;
    CheckpointManifest manifest;
    try {
        manifest = read_generation_manifest(generation);
    } catch (const Error& error) {
        // Its message begins with the name of the file.
        const std::string head = std::string(manifest_name) + ": ";
        report.findings.push_back({manifest_name, "", std::string(error.what()).substr(head.size())});
        return report;
    }
    report.bytes = manifest.bytes();
    report.files = manifest.files.size();
    for (const FileRecord& file : manifest.files) {
        report.datasets += file.datasets.size();
    }
    report.findings = check_generation(generation, manifest);
    try {
        check_coverage(manifest);
    } catch (const Error& error) {
        report.findings.push_back({manifest_name, "", error.what()});
    }
    return report;
}

}  // namespace

bool VerifyReport::usable() const {
    return std::ranges::any_of(generations, &GenerationReport::valid);
}

bool VerifyReport::all_valid() const {
    return findings.empty() && std::ranges::all_of(generations, &GenerationReport::valid);
}

VerifyReport verify(const std::filesystem::path& directory) {
    VerifyReport report;
    const CheckpointStore store(directory);
    for (const GenerationPath& generation : store.list()) {
        report.generations.push_back(verify_generation(generation));
    }
    try {
        store.best();
    } catch (const Error& error) {
        report.findings.push_back({"best.json", "", error.what()});
    }
    return report;
}

std::string to_text(const VerifyReport& report) {
    std::string text;
    for (const GenerationReport& generation : report.generations) {
        text += generation.name + ": ";
        if (generation.valid()) {
            text += "valid, " + std::to_string(generation.datasets) + " data sets in " +
                    std::to_string(generation.files) + " files, " + human(Bytes{generation.bytes}) + "\n";
        } else {
            text += "DAMAGED\n";
        }
        for (const Finding& finding : generation.findings) {
            text += "  " + to_text(finding) + "\n";
        }
    }
    for (const Finding& finding : report.findings) {
        text += to_text(finding) + "\n";
    }
    return text.empty() ? "no checkpoints\n" : text;
}

}  // namespace mastic::checkpoint
