// On processors other than x86 OpenBLAS chooses by itself.
#include <mastic/job/cpu_features.hpp>

namespace mastic::job {

CpuFeatures detect_cpu() {
    return {};
}

}  // namespace mastic::job
