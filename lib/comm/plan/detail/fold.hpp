// Methods for powers of two, on any number of ranks: `extra` ranks stand beside a partner, and the `core` of the
// others, the largest power of two, does the work. Each of the first 2 * extras() ranks that is odd is extra to the
// one before it; core ranks are numbered in order.
#pragma once

#include <bit>

namespace mastic::comm::detail {

class Fold {
  public:
    explicit Fold(int size)
        : size_(size), core_(static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))) {}

    int core() const { return core_; }
    int extras() const { return size_ - core_; }
    bool is_extra(int rank) const { return rank < 2 * extras() && rank % 2 == 1; }
    int partner(int extra) const { return extra - 1; }

    int number(int core_rank) const {
        return core_rank < 2 * extras() ? core_rank / 2 : core_rank - extras();
    }
    // `number` may be core(): then it is the number of all ranks.
    int rank(int number) const { return number < extras() ? 2 * number : number + extras(); }
    bool has_extra(int number) const { return number < extras(); }
    int extra(int number) const { return rank(number) + 1; }

  private:
    int size_;
    int core_;
};

}  // namespace mastic::comm::detail
