// Apart from the rest of binding.hpp, so that who only writes numbers does not link hwloc.
#include <mastic/job/binding.hpp>

namespace mastic::job {

std::string compact_ranges(const std::vector<int>& ascending) {
    std::string text;
    for (std::size_t i = 0; i < ascending.size();) {
        auto last = i;
        while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) {
            ++last;
        }
        text.append(text.empty() ? "" : ",").append(std::to_string(ascending[i]));
        if (last > i) {
            text.append("-").append(std::to_string(ascending[last]));
        }
        i = last + 1;
    }
    return text;
}

}  // namespace mastic::job
