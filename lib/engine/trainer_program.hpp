// The trainer: mastic-train with everything in it.
#pragma once

#include <mastic/engine/accelerator.hpp>

namespace mastic::engine {

int run_trainer(int argc, char** argv, const GpuSource& gpus = cuda_gpus());

}  // namespace mastic::engine
