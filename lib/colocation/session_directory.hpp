// Where a session lives: names, contents and removal. See README.md for what each file means.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/colocation/file_lock.hpp>
#include <mastic/colocation/mps_control.hpp>
#include <mastic/colocation/process.hpp>
#include <mastic/core/environment.hpp>
#include <mastic/job/context.hpp>

namespace mastic::colocation {

// What the ranks that share a daemon have in common.
struct SessionKey {
    std::string host;
    std::string job;                   // "step 12.0 of Slurm", "mpiexec, process 4711"
    std::vector<std::string> devices;  // ids
};

// The job as all its ranks on this node call it, and nobody else on it.
std::string job_name(const job::JobContext& context, const Environment& environment);

struct SessionState {
    bool ready = false;
    std::string problem;  // if it is not: why
};

class SessionDirectory {
  public:
    explicit SessionDirectory(std::filesystem::path path) : path_(std::move(path)) {}

    // Below /tmp, or the directory that MASTIC_MPS_DIRECTORY names. Throws Error(environment) if a socket's path would be too long.
    static SessionDirectory of(const SessionKey& key, const Environment& environment);
    // Those of this user.
    static std::vector<SessionDirectory> all(const Environment& environment);

    // Makes it with mode 0700, or finds it. Throws Error(environment): somebody else's, or open to others; Error(io).
    void create() const;
    // Throws Error(environment) for one that is not this user's alone.
    bool exists() const;
    // Everything in it and itself. The caller holds lock() exclusively, so that nobody else is in it.
    void remove() const;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path lock() const { return path_ / "lock"; }
    std::filesystem::path keeper() const { return path_ / "keeper"; }
    MpsPlace mps() const { return {path_ / "pipe", path_ / "log"}; }

    void write_key(const SessionKey& key) const;
    std::optional<SessionKey> read_key() const;  // nothing: none yet, or damaged
    void write_state(const SessionState& state) const;
    std::optional<SessionState> read_state() const;  // nothing: not decided yet
    void forget_state() const;

    void add_member(const ProcessId& process) const;
    void remove_member(pid_t pid) const;
    std::vector<ProcessId> living_members() const;

  private:
    std::filesystem::path path_;
};

}  // namespace mastic::colocation
