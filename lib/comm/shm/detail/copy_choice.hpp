// Whether private buffers go through the kernel or are copied through shared memory: whichever took less time for messages
// of the size. Which one does depends on the CPU, on the kernel and on where the ranks run (two copies that stay in caches
// against one with work for each page: on a Zen 4 the copies win from 32 KiB to 64 MiB by up to 2, if the cores share a
// cache, and lose by 5, if they do not), and both give the same bits. Pure: durations are told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace mastic::comm::detail {

enum class PrivateWay { through_kernel, copy };

class CopyChoice {
  public:
    // What is compared: operations of one kind (any number), whose sizes differ by less than 2.
    struct Work {
        int kind = 0;
        std::size_t bytes = 1;
    };
    PrivateWay next(const Work& work);
    // How long one took.
    void took(const Work& work, PrivateWay way, double seconds);

  private:
    // The better of the last two: one that was interrupted counts for nothing.
    struct Times {
        std::array<double, 2> seconds_per_byte{};
        std::size_t taken = 0;
        double best() const {
            return seconds_per_byte[0] < seconds_per_byte[1] ? seconds_per_byte[0] : seconds_per_byte[1];
        }
    };
    struct Record {
        std::array<Times, 2> times;  // by way
        PrivateWay better = PrivateWay::through_kernel;
        std::uint64_t until_trial = 0;  // operations
        std::uint64_t pause = 0;        // between trials
        int trials_left = 0;            // of the one at hand
    };
    Record& record_of(const Work& work);

    std::map<std::pair<int, int>, Record> records_;  // by kind and size class
};

}  // namespace mastic::comm::detail
