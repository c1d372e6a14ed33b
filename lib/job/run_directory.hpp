// The directory of one run: what lies where, who owns it, and whether there is room.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <mastic/core/bytes.hpp>
#include <mastic/job/owner_lock.hpp>

namespace mastic::job {

using RunOwner = Owner;
using RunLock = OwnerLock;

class RunDirectory {
  public:
    // The paths only: for `status` and for ranks other than the first.
    explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

    // Makes the directory, its parents and its folders (mode 0755 less the umask) where they are missing.
    // Throws Error(io) with the path that could not be made.
    static RunDirectory create_or_open(const std::filesystem::path& path);

    // Throws Error(io) "in use by job 123 (pid 4 on node n1 since ...)" if another process holds it.
    [[nodiscard]] RunLock lock(const RunOwner& owner) const;

    // Who holds the lock now, without taking it; none: nobody.
    std::optional<RunOwner> current_owner() const;

    // At a start: what ranks of an earlier one left in ranks().
    void clear_ranks() const;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path config_file() const { return path_ / "config.toml"; }
    std::filesystem::path metrics_file() const { return path_ / "metrics.jsonl"; }
    std::filesystem::path summary_file() const { return path_ / "run.json"; }
    std::filesystem::path lock_file() const { return path_ / "lock"; }
    std::filesystem::path owner_file() const { return path_ / "owner.json"; }
    std::filesystem::path logs() const { return path_ / "logs"; }
    std::filesystem::path traces() const { return path_ / "trace"; }
    std::filesystem::path ranks() const { return path_ / "ranks"; }  // what each was doing last, its backtrace
    std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
    std::filesystem::path log_file(int rank) const;
    std::filesystem::path trace_file(int rank) const;
    std::filesystem::path last_moment_file(int rank) const;
    std::filesystem::path crash_file(int rank) const;

  private:
    OwnedPlace place() const;

    std::filesystem::path path_;
};

// Before training: throws Error(io) with the needed and the free size if `needed` bytes for `what` ("two
// checkpoints") do not fit on the file system of `path`.
void check_space(const std::filesystem::path& path, Bytes needed, const std::string& what);

// Writes, syncs and removes a small file in `directory`; throws Error(io) with the reason. Permission bits
// alone do not tell (read-only mounts, quotas, root).
void check_writable(const std::filesystem::path& directory);

}  // namespace mastic::job
