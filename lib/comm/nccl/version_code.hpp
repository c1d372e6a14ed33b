// NCCL writes 2.28.9 as 22809 (since 2.9).
#pragma once

#include <string>

namespace mastic::comm {

inline std::string nccl_version_text(int code) {
    return std::to_string(code / 10000) + "." + std::to_string(code % 10000 / 100) + "." +
           std::to_string(code % 100);
}

}  // namespace mastic::comm
