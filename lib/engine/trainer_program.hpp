// The trainer: mastic-train with everything in it.
#pragma once

namespace mastic::engine {

struct GpuSource;  // accelerator.hpp

int run_trainer(int argc, char** argv);  // with the GPUs of CUDA
int run_trainer(int argc, char** argv, const GpuSource& gpus);

}  // namespace mastic::engine
