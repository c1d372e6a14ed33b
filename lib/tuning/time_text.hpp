// Times of operations for people.
#pragma once

#include <string>

namespace mastic::tuning {

// Three significant digits, in us, ms or s: "1.23 us", "45.6 ms".
std::string time_text(double us);

}  // namespace mastic::tuning
