// An flock(2) on a file in a directory that others may remove at any time. The kernel releases it when the last process that holds
// the descriptor is gone, however that came about.
#pragma once

#include <filesystem>
#include <optional>

#include <mastic/core/descriptor.hpp>

namespace mastic::colocation {

class FileLock {
  public:
    enum class Mode { shared, exclusive };

    // Makes the file (0600) if it is missing. Nothing: somebody else holds it, or directory or file have just been removed. Throws
    // Error(io).
    static std::optional<FileLock> try_take(const std::filesystem::path& path, Mode mode);

    // Blocks until nobody else holds it. False: the file was removed meanwhile.
    bool wait_exclusive();

    // Across exec, and in all children that do not close it.
    void keep_across_exec() const;
    int descriptor() const { return descriptor_.get(); }

  private:
    FileLock(std::filesystem::path path, Descriptor descriptor)
        : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
    bool still_named() const;  // the path is this file

    std::filesystem::path path_;
    Descriptor descriptor_;
};

}  // namespace mastic::colocation
