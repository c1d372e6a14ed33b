// Driving one operation from the thread that waits for it.
#pragma once

#include <functional>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/comm/poll_policy.hpp>

namespace mastic::comm {

// Starts the operation and steps it until it is complete; false if it has not got further for a while: then it is for
// another thread to go on stepping. `policy`: spin or yield.
bool drive(Operation& operation, EventLoop& loop, PollPolicy policy);

struct DriveOptions {
    PollPolicy policy = PollPolicy::yield;  // spin or yield
    bool sockets = false;  // some of what the operation waits for comes through the event loop
    // Called now and then while nothing happens: often at first, at least every half millisecond.
    std::function<void()> meanwhile{};
};

// The same, until it is complete, however long that takes.
void drive_to_completion(Operation& operation, EventLoop& loop, const DriveOptions& options);

}  // namespace mastic::comm
