// Where pieces lie that follow one another round and round in a stretch of memory. Pure.
#pragma once

#include <cstddef>

namespace mastic::comm::detail {

class PieceCycle {
  public:
    explicit PieceCycle(std::size_t bytes) : bytes_(bytes) {}

    // Moves on to a piece of so many bytes, at most a quarter of the cycle: the one before it stays as it is.
    void move_on(std::size_t piece) {
        begin_ = end_ + piece > bytes_ ? 0 : end_;
        end_ = begin_ + piece;
    }
    std::size_t begin() const { return begin_; }  // of the piece at hand

  private:
    std::size_t bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace mastic::comm::detail
