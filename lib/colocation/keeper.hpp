// The process that keeps a session: starts the daemon, waits until the last member is gone, stops the daemon, removes the directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/colocation/file_lock.hpp>
#include <mastic/colocation/session_directory.hpp>

namespace mastic::colocation {

// Forks the keeper, apart from this process' group, session, output and descriptors, and returns. `lock` is that of
// SessionDirectory::keeper(); the keeper has it from now on. Without it the keeper makes the directory, with this process as
// its first member, or leaves all to another one that was faster: so no directory is ever without a keeper, unless that was
// killed.
void start_keeper(const SessionDirectory& directory, const SessionKey& key, std::optional<FileLock> lock,
                  const Environment& environment);

// Stops the daemon and removes the directory; the caller holds its lock exclusively. For keeper, last member and clean.
void end_session(const SessionDirectory& directory);

// A dead job's: nobody holds its locks, also no process that a member has started, and no member is alive.
bool is_left_over(const SessionDirectory& directory);

// Returns a line for each that was removed.
std::vector<std::string> remove_leftovers(const Environment& environment, bool dry_run = false);

}  // namespace mastic::colocation
