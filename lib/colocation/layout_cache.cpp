#include <mastic/colocation/layout_cache.hpp>

#include <span>

#include <nlohmann/json.hpp>

#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto run_directory_flag = "--run.dir";

std::string content_if_config(const std::string& word) {
    std::error_code ignored;
    return word.ends_with(".toml") && fs::is_regular_file(word, ignored) ? read_text_file(word) : "";
}

json read_all(const fs::path& file) {
    try {
        const json all = json::parse(read_text_file(file), nullptr, false);
        return all.is_object() ? all : json::object();
    } catch (const Error&) {
        return json::object();
    }
}

json to_json(const LayoutChoice& choice) {
    json trials = json::array();
    for (const Trial& trial : choice.trials) {
        trials.push_back({{"ranks_per_device", trial.ranks_per_device},
                          {"samples_per_s", trial.samples_per_s},
                          {"memory_peak", trial.memory_peak.count},
                          {"problem", trial.problem}});
    }
    return {{"ranks_per_device", choice.ranks_per_device},
            {"samples_per_s", choice.samples_per_s},
            {"end", choice.end},
            {"trials", trials}};
}

LayoutChoice from_json(const json& entry) {
    LayoutChoice choice;
    choice.ranks_per_device = entry.at("ranks_per_device");
    choice.samples_per_s = entry.at("samples_per_s");
    choice.end = entry.at("end");
    for (const json& trial : entry.at("trials")) {
        choice.trials.push_back({trial.at("ranks_per_device"),
                                 trial.at("samples_per_s"),
                                 {},
                                 {trial.at("memory_peak").get<std::uint64_t>()},
                                 {},
                                 trial.at("problem")});
    }
    return choice;
}

}  // namespace

std::string layout_key(const std::vector<std::string>& words, const std::vector<Device>& devices, int nodes) {
    std::string text = std::to_string(nodes) + "\n";
    for (const Device& device : devices) {
        text += device.model + " " + std::to_string(device.cores.size()) + "\n";
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == run_directory_flag) {
            ++i;
        } else if (!word.starts_with(std::string(run_directory_flag) + "=")) {
            text += (i == 0 ? fs::path(word).filename().string() : word) + "\n" + content_if_config(word);
        }
    }
    return to_hex(checksum(std::as_bytes(std::span(text))));
}

LayoutCache::LayoutCache(const std::string& file, const Environment& environment) : file_(file) {
    if (file.empty()) {
        const fs::path home = environment("HOME").value_or(".");
        file_ = fs::path(environment("XDG_CACHE_HOME").value_or((home / ".cache").string())) / "mastic" /
                "layouts.json";
    }
}

std::optional<LayoutChoice> LayoutCache::find(const std::string& key) const {
    const json all = read_all(file_);
    try {
        return all.contains(key) ? std::optional(from_json(all.at(key))) : std::nullopt;
    } catch (const json::exception&) {
        return std::nullopt;
    }
}

void LayoutCache::store(const std::string& key, const std::string& about, const LayoutChoice& choice) const {
    std::error_code ignored;  // what follows tells it
    fs::create_directories(file_.parent_path(), ignored);
    json all = read_all(file_);
    all[key] = to_json(choice);
    all[key]["about"] = about;
    write_file_atomically(file_, all.dump(1) + "\n");
}

}  // namespace mastic::colocation
