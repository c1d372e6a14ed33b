// What the state machines of membership see of the network, so that a test can bring a simulated one.
#pragma once

#include <mastic/core/duration.hpp>
#include <mastic/elastic/message.hpp>

namespace mastic::elastic {

using Link = int;  // a connection, as one of its ends knows it; 0: none

// How a link ended, or did not come to be.
enum class Loss {
    closed,   // by the other end, or by its kernel when the process died
    refused,  // nobody listens there: the process has ended
    silent,   // no answer
};

// All functions return at once.
class Network {
  public:
    virtual ~Network() = default;
    // The link can be used at once: messages wait until the connection is there. Its loss is reported if it fails.
    virtual Link dial(const MemberRecord& to) = 0;
    virtual void send(Link link, const Message& message) = 0;
    // Messages sent before still go out. Its loss is not reported.
    virtual void close(Link link) = 0;
};

struct Timing {
    Seconds heartbeat{1};  // between two signs of life
    Seconds timeout{3};    // without one, the other side is lost
    Seconds regroup{60};   // how long a member that is alive may take to come out of a broken step
};

}  // namespace mastic::elastic
