// Ends the waits of an event loop now and then, for what has a deadline.
#pragma once

#include <functional>

#include <mastic/comm/event_loop.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::comm {

class Ticker : private EventHandler {
  public:
    // Calls `tick` out of the loop. Throws Error(environment): out of descriptors.
    Ticker(EventLoop& loop, Clock::duration period, std::function<void(Clock::time_point)> tick);
    ~Ticker() override;
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;

  private:
    void ready(bool readable, bool writable) override;

    EventLoop& loop_;
    Descriptor timer_;
    std::function<void(Clock::time_point)> tick_;
};

}  // namespace mastic::comm
