// The style sheet of pages; that of plots is plot_style().
#pragma once

#include <string>

namespace mastic::report {

std::string page_style();

}  // namespace mastic::report
