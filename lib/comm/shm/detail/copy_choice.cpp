#include <mastic/comm/shm/detail/copy_choice.hpp>

#include <algorithm>
#include <bit>

namespace mastic::comm::detail {
namespace {

constexpr int trials = 2;  // in a row
// Trials of the other way become rare while they change nothing: a run in which it takes ten times as long loses 28 % of the
// first 64 operations by them, and 2 % of thousands.
constexpr std::uint64_t shortest_pause = 64;
constexpr std::uint64_t longest_pause = 1024;

PrivateWay other_than(PrivateWay way) {
    return way == PrivateWay::copy ? PrivateWay::through_kernel : PrivateWay::copy;
}

std::size_t index(PrivateWay way) {
    return static_cast<std::size_t>(way);
}

}  // namespace

CopyChoice::Record& CopyChoice::record_of(const Work& work) {
    return records_[{work.kind, std::bit_width(work.bytes)}];
}

PrivateWay CopyChoice::next(const Work& work) {
    Record& record = record_of(work);
    if (record.trials_left == 0 && record.until_trial == 0) {
        record.trials_left = trials;
        record.pause = std::clamp(2 * record.pause, shortest_pause, longest_pause);
        record.until_trial = record.pause;
    }
    if (record.times[index(record.better)].taken < trials) {
        return record.better;  // the first ones of all
    }
    if (record.trials_left > 0) {
        return other_than(record.better);
    }
    --record.until_trial;
    return record.better;
}

void CopyChoice::took(const Work& work, PrivateWay way, double seconds) {
    Record& record = record_of(work);
    Times& times = record.times[index(way)];
    times.seconds_per_byte[times.taken++ % times.seconds_per_byte.size()] =
        seconds / static_cast<double>(std::max<std::size_t>(work.bytes, 1));
    if (way == record.better || record.trials_left == 0) {
        return;
    }
    --record.trials_left;
    if (record.trials_left == 0 && times.best() < record.times[index(record.better)].best()) {
        record.better = way;
        record.pause = 0;
        record.until_trial = shortest_pause;
    }
}

}  // namespace mastic::comm::detail
