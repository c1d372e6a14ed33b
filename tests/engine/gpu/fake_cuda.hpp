// A GPU for torch and for the collectives, in a torch without CUDA: tensors of the device "cuda" lie in GuardedMemory, and
// operations on them run on the processor with copies there and back (at::native::cpu_fallback). So results are those of the
// processor, and a place that forgets where a tensor is ends the process.
#pragma once

#include <mastic/engine/accelerator.hpp>

namespace mastic::test {

// One GPU. Without NCCL: what is reduced passes through host memory.
engine::GpuSource fake_gpus();

}  // namespace mastic::test
