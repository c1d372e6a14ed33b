#include <mastic/core/version.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace mastic {

const char* version() {
    return MASTIC_VERSION;
}

std::string built_and_run(const std::string& built, const std::string& run) {
    return built == run ? run : run + " (built with " + built + ")";
}

std::string version_text(const std::string& program, const LibraryVersions& libraries) {
    std::string text = program + " " + version() + "\n";
    for (const auto& [library, its_version] : libraries) {
        text += "  " + library + std::string(10 - std::min<std::size_t>(9, library.size()), ' ') + its_version + "\n";
    }
    return text;
}

std::string version_json(const std::string& program, const LibraryVersions& libraries) {
    const nlohmann::json json = {{"program", program}, {"version", version()}, {"libraries", libraries}};
    return json.dump(2) + "\n";
}

}  // namespace mastic
