// A directory of its own for each test.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::test {

// Made under $TMPDIR (or /tmp) with a unique name and mode 0700; removed with everything in it at the end.
class TempDir {
  public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
    // Writes a file, and the directories it lies in. Returns its path.
    std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const;
    // The sorted names of what lies in the directory itself.
    std::vector<std::string> names() const;

  private:
    std::filesystem::path path_;
};

// Overwrites `path`; throws std::runtime_error if that fails.
void write_file(const std::filesystem::path& path, std::string_view content);

// The sorted names of what lies in a directory.
std::vector<std::string> names_in(const std::filesystem::path& directory);

}  // namespace mastic::test
