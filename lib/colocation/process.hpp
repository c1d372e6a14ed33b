// Processes of this machine, by /proc.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mastic::colocation {

// With the start time, so that a number that was given to another process is not taken for the old one.
struct ProcessId {
    pid_t pid = 0;
    unsigned long long start = 0;  // in clock ticks since boot

    bool operator==(const ProcessId&) const = default;
};

std::optional<ProcessId> find_process(pid_t pid);  // nothing: gone, or a zombie
bool is_alive(const ProcessId& process);
std::optional<pid_t> parent_of(pid_t pid);
std::string program_name(pid_t pid);  // at most 15 characters, as the kernel keeps it; "" if it is gone
std::optional<uid_t> owner_of(pid_t pid);

bool is_mps_process(pid_t pid);  // a control daemon or a server, by its name
// Its environment names this pipe directory: daemon, server or client. False for another user's, which cannot be asked.
bool uses_pipe(pid_t pid, const std::filesystem::path& pipe);

// Control daemons and servers of MPS whose environment names this pipe directory; of this user.
std::vector<ProcessId> mps_processes(const std::filesystem::path& pipe);
// Those of other users.
struct ForeignProcess {
    pid_t pid = 0;
    uid_t owner = 0;
};
std::vector<ForeignProcess> foreign_mps_servers();

}  // namespace mastic::colocation
