// Which lane the next operation of a group takes: the same on all ranks, since it depends only on the order of starting, on
// sizes and on priorities, which are the same.
//
// Large operations share one lane: they keep its streams busy one after the other, and a TCP connection that rests for
// longer than its retransmission time-out (200 ms) starts slowly again (RFC 5681, 4.1; with eight lanes in turn, a row of
// 4 MB allreduces over 1 Gbit/s took 17 % longer). Small ones take turns on lanes of their own, as many as there may be
// operations in flight: they wait for latency, not for bandwidth, and not behind a large one. Operations with a priority
// above 0 have lanes of their own too.
#pragma once

#include <mastic/core/bytes.hpp>

namespace mastic::comm {

class LaneChoice {
  public:
    static constexpr Bytes large{1u << 20};

    LaneChoice(int small, int urgent) : small_(small), urgent_(urgent) {}

    int lanes() const { return 1 + small_ + urgent_; }
    int next(int priority, Bytes size) {
        if (priority > 0) {
            return 1 + small_ + static_cast<int>(urgent_started_++ % static_cast<unsigned>(urgent_));
        }
        return size >= large ? 0 : 1 + static_cast<int>(small_started_++ % static_cast<unsigned>(small_));
    }

  private:
    int small_;
    int urgent_;
    unsigned small_started_ = 0;
    unsigned urgent_started_ = 0;
};

}  // namespace mastic::comm
