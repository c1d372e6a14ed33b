// A log as text; gzip is undone, whatever the name says.
#pragma once

#include <filesystem>
#include <string_view>

#include <mastic/data/file_content.hpp>

namespace mastic::schedule {

class LogFile {
  public:
    // Throws Error(data) if it cannot be read or is no text.
    explicit LogFile(const std::filesystem::path& path);
    std::string_view text() const;

  private:
    data::FileContent content_;
};

}  // namespace mastic::schedule
