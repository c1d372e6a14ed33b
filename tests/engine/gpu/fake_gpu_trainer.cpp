// mastic-train with one GPU that is none: see fake_cuda.hpp.
#include <mastic/engine/trainer_program.hpp>

#include "engine/gpu/fake_cuda.hpp"

int main(int argc, char** argv) { return mastic::engine::run_trainer(argc, argv, mastic::test::fake_gpus()); }
