// Limits a rate: a bucket that fills with time, from which each byte takes one token. Pure; time is given to it.
#pragma once

#include <algorithm>
#include <cstdint>

#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::elastic {

class TokenBucket {
  public:
    // Bytes per second; 0: no limit. A tenth of a second's worth may come at once.
    explicit TokenBucket(Bytes rate) : rate_(static_cast<double>(rate.count)) {}

    // Takes `bytes` and returns how long to wait before they may be sent.
    Seconds take(std::uint64_t bytes, Seconds now) {
        if (rate_ == 0) {
            return Seconds(0);
        }
        tokens_ = std::min(rate_ / 10, tokens_ + (now - last_).count() * rate_) - static_cast<double>(bytes);
        last_ = now;
        return Seconds(std::max(0.0, -tokens_ / rate_));
    }

  private:
    double rate_;
    double tokens_ = 0;
    Seconds last_{0};
};

}  // namespace mastic::elastic
