// What earlier searches found, in one JSON file: for the same program, arguments and devices the trials need not be run again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/colocation/device.hpp>
#include <mastic/colocation/layout_search.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::colocation {

// A checksum over the program's name, its arguments but for the run directory, the content of those that name a TOML file, the model and
// number of devices, and the number of nodes.
std::string layout_key(const std::vector<std::string>& words, const std::vector<Device>& devices, int nodes);

class LayoutCache {
  public:
    // "": $XDG_CACHE_HOME/mastic/layouts.json, or ~/.cache/...
    LayoutCache(const std::string& file, const Environment& environment);

    std::optional<LayoutChoice> find(const std::string& key) const;  // a damaged file holds nothing
    // Throws Error(io).
    void store(const std::string& key, const std::string& about, const LayoutChoice& choice) const;
    const std::filesystem::path& file() const { return file_; }

  private:
    std::filesystem::path file_;
};

}  // namespace mastic::colocation
