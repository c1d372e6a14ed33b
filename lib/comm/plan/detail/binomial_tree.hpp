// The tree of binomial broadcasts and scatters. Ranks are counted from the root on: `place` 0 is the root. The
// parent of a place lacks its lowest bit; the subtree of a place is the places from it on, as many as that bit says,
// up to `size`.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

namespace mastic::comm::detail {

class BinomialTree {
  public:
    explicit BinomialTree(int size) : size_(size) {}

    static int parent(int place) { return place & (place - 1); }
    int subtree(int place) const {
        const int lowest_bit = place == 0 ? size_ : place & -place;
        return std::min(lowest_bit, size_ - place);
    }
    // Of the largest subtree first: it has the longest way to go.
    std::vector<int> children(int place) const {
        std::vector<int> places;
        for (auto bit = std::bit_floor(static_cast<unsigned>(subtree(place) - 1)); bit >= 1; bit /= 2) {
            places.push_back(place + static_cast<int>(bit));
        }
        return places;
    }

  private:
    int size_;
};

}  // namespace mastic::comm::detail
