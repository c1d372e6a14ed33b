// A small file system of its own, to test what happens on a full or read-only disk.
#pragma once

#include <filesystem>
#include <string>

#include <mastic/core/bytes.hpp>

#include "support/temp_dir.hpp"

namespace mastic::test {

// Mounts a tmpfs on a new directory; unmounted at the end. That needs root:
//   TmpfsMount disk(parse_bytes("1M"));
//   if (!disk.mounted()) GTEST_SKIP() << disk.reason();
class TmpfsMount {
  public:
    explicit TmpfsMount(Bytes size);
    ~TmpfsMount();
    TmpfsMount(const TmpfsMount&) = delete;
    TmpfsMount& operator=(const TmpfsMount&) = delete;

    bool mounted() const { return reason_.empty(); }
    const std::string& reason() const { return reason_; }  // why it is not mounted
    const std::filesystem::path& path() const { return directory_.path(); }
    std::filesystem::path operator/(const std::filesystem::path& name) const { return directory_ / name; }
    // From now on every write fails with EROFS, for root too. Throws std::runtime_error if a file is open for
    // writing.
    void make_read_only();

  private:
    TempDir directory_;
    std::string reason_;
};

}  // namespace mastic::test
