#include <mastic/schedule/horizon.hpp>

namespace mastic::schedule {
namespace {

constexpr double horizons[] = {30, 42, 60, 85, 120, 170, 240, 340, 480, 680};
constexpr double clearly_better = 1.001;

}  // namespace

double HorizonTuner::horizon_s() const {
    return horizons[place_];
}

void HorizonTuner::tune(const IdleTrace& log, const Trial& trial) {
    std::size_t best = place_;
    double most = trial(log, horizons[place_]) * clearly_better;
    for (const std::size_t neighbour : {place_ - 1, place_ + 1}) {
        if (neighbour < std::size(horizons)) {  // place_ - 1 of 0 wraps around
            const double progress = trial(log, horizons[neighbour]);
            if (progress > most) {
                most = progress;
                best = neighbour;
            }
        }
    }
    place_ = best;
}

}  // namespace mastic::schedule
