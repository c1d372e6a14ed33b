// A non-blocking operation, driven by the progress thread: start() once, then step() until it says complete.
//
// Rules: both run on the progress thread only; neither waits for another rank, unless the operation was
// submitted as `exclusive` (then nothing else is under way meanwhile); what they throw ends the operation and
// reaches the caller through its Request.
#pragma once

namespace mastic::comm {

enum class Step { waiting, advanced, complete };

class Operation {
  public:
    virtual ~Operation() = default;
    virtual void start() = 0;
    virtual Step step() = 0;
    // While true, whatever lets step() get further is announced by the event loop: nobody needs to poll.
    virtual bool event_driven() const { return false; }
};

}  // namespace mastic::comm
