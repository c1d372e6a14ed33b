// A bound on waits that have none of their own: MPI_Finalize, a library's shutdown, a network file system.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <mastic/core/duration.hpp>

namespace mastic {

// Calls `on_expire` once, on its own thread, if it is still alive after `limit`. The destructor disarms it;
// if `on_expire` is running by then, the destructor waits for it.
//
//     Watchdog watchdog(Seconds(10), [] { _exit(75); });
//     MPI_Finalize();
class Watchdog {
  public:
    Watchdog(Seconds limit, std::function<void()> on_expire);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    bool expired() const;

  private:
    void watch(Seconds limit);

    std::function<void()> on_expire_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool disarmed_ = false;
    bool expired_ = false;
    std::thread thread_;
};

}  // namespace mastic
