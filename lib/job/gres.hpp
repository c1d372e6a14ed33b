// Slurm's generic resources.
#pragma once

#include <cstdint>
#include <string_view>

namespace mastic::job {

// GPUs of all kinds in a list of generic resources, as nodes have ("gpu:2,shard:8", "gpu:a100:4(S:0-1)") and as jobs
// ask for ("gres:gpu:1", "gres/gpu"). Whatever is none counts nothing.
std::int64_t gpus_in_gres(std::string_view gres);

}  // namespace mastic::job
