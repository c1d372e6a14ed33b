// Which lane the next operation of a group takes: the same on all ranks, since it depends only on the order of starting
// and on priorities, which are the same.
//
// Ordinary operations take turns on as few lanes as there may be operations in flight: a TCP connection that rests for
// longer than its retransmission time-out (200 ms) starts slowly again (RFC 5681, 4.1; with one of eight lanes for each
// operation, a row of 4 MB allreduces over 1 Gbit/s took 17 % longer). Operations with a priority above 0 have lanes of
// their own, so that they need not wait behind an ordinary one.
#pragma once

namespace mastic::comm {

class LaneChoice {
  public:
    LaneChoice(int ordinary, int urgent) : ordinary_(ordinary), urgent_(urgent) {}

    int lanes() const { return ordinary_ + urgent_; }
    int next(int priority) {
        return priority > 0 ? ordinary_ + static_cast<int>(urgent_started_++ % static_cast<unsigned>(urgent_))
                            : static_cast<int>(ordinary_started_++ % static_cast<unsigned>(ordinary_));
    }

  private:
    int ordinary_;
    int urgent_;
    unsigned ordinary_started_ = 0;
    unsigned urgent_started_ = 0;
};

}  // namespace mastic::comm
