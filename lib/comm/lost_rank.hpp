// A peer that was lost: as an exception for whoever waited for it, and as a record for whoever goes on without it.
//
// What a rank sees is a hint: when one dies, others that notice may close their connections before this rank has heard of
// the first. Who must know for certain asks a membership service.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <mastic/core/error.hpp>

namespace mastic::comm {

class LostRankError : public Error {
  public:
    LostRankError(int rank, const std::string& message, std::string hint)
        : Error(ExitCode::collective, message, std::move(hint)), rank_(rank) {}
    int rank() const { return rank_; }

  private:
    int rank_;
};

// May be used from any thread.
class LossRecord {
  public:
    void add(int rank);
    std::vector<int> ranks() const;  // in the order in which they were lost

  private:
    mutable std::mutex mutex_;
    std::vector<int> ranks_;
};

}  // namespace mastic::comm
