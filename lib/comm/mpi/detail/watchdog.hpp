// Runs `on_expiry` on a thread of its own unless it is destroyed within `limit`.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <mastic/core/duration.hpp>

namespace mastic::comm::detail {

class Watchdog {
  public:
    Watchdog(Seconds limit, std::function<void()> on_expiry)
        : thread_([this, limit, on_expiry = std::move(on_expiry)] {
              std::unique_lock lock(mutex_);
              if (!disarmed_.wait_for(lock, limit, [this] { return is_disarmed_; })) {
                  on_expiry();
              }
          }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            is_disarmed_ = true;
        }
        disarmed_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable disarmed_;
    bool is_disarmed_ = false;
    std::thread thread_;
};

}  // namespace mastic::comm::detail
