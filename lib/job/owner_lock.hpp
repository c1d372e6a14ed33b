// Exclusive ownership of a directory until destruction or death: an flock, which the kernel releases with the process, so
// nothing stale can remain; and a file beside it that says who the owner is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <mastic/core/descriptor.hpp>

namespace mastic::job {

struct Owner {
    std::string host;
    long pid = 0;
    std::string job_id;  // empty outside of Slurm
    std::string since;   // local time, ISO 8601
};

Owner this_process(const std::string& host, const std::string& job_id);

struct OwnedPlace {
    std::string name;       // for messages: "the run directory runs/a"
    std::string otherwise;  // what else to do if it is in use: "name another run directory"
    std::filesystem::path lock_file;
    std::filesystem::path owner_file;
};

class OwnerLock {
  public:
    // Throws Error(io) "NAME is in use by job 123 (pid 4 on node n1 since ...)" if another process holds it.
    OwnerLock(const OwnedPlace& place, const Owner& owner);
    OwnerLock(OwnerLock&&) noexcept = default;
    OwnerLock& operator=(OwnerLock&&) = delete;
    ~OwnerLock();

  private:
    Descriptor descriptor_;
    std::filesystem::path owner_file_;
};

// Who holds the lock now, without taking it; none: nobody.
std::optional<Owner> current_owner(const OwnedPlace& place);

// "job 123 (pid 4 on node n1 since 2026-01-31T12:00:00+0100)"
std::string describe(const Owner& owner);

}  // namespace mastic::job
