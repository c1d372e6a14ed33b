// A rank's part in a session: join before the program starts, leave after it has ended.
#pragma once

#include <mastic/colocation/keeper.hpp>
#include <mastic/colocation/session_directory.hpp>

namespace mastic::colocation {

class Session {
  public:
    // Returns once MPS is proven to work. One of the ranks that call this makes the keeper. Throws Error(environment) with the
    // keeper's reason if the daemon does not start, or not within `patience`.
    static Session join(const SessionKey& key, const Environment& environment,
                        Seconds patience = Seconds(90));

    const SessionDirectory& directory() const { return directory_; }
    // The program that this process becomes stays a member.
    void keep_across_exec() const { lock_.keep_across_exec(); }
    // Where nobody else is a member, returns when the daemon is stopped and the directory gone, or `patience` is over.
    void leave(Seconds patience = Seconds(20)) &&;

  private:
    Session(SessionDirectory directory, FileLock lock)
        : directory_(std::move(directory)), lock_(std::move(lock)) {}

    SessionDirectory directory_;
    FileLock lock_;
};

}  // namespace mastic::colocation
