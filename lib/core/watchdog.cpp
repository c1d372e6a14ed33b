#include <mastic/core/watchdog.hpp>

#include <chrono>

namespace mastic {

Watchdog::Watchdog(Seconds limit, std::function<void()> on_expire)
    : on_expire_(std::move(on_expire)), thread_([this, limit] { watch(limit); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        disarmed_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool Watchdog::expired() const {
    const std::lock_guard lock(mutex_);
    return expired_;
}

void Watchdog::watch(Seconds limit) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, limit, [this] { return disarmed_; })) {
        return;
    }
    expired_ = true;
    lock.unlock();
    on_expire_();
}

}  // namespace mastic
