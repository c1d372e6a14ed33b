#include <mastic/tuning/time_text.hpp>

#include <mastic/report/number_format.hpp>

namespace mastic::tuning {

std::string time_text(double us) {
    if (us < 1e3) {
        return report::significant(us, 3) + " us";
    }
    return us < 1e6 ? report::significant(us / 1e3, 3) + " ms" : report::significant(us / 1e6, 3) + " s";
}

}  // namespace mastic::tuning
