#include <mastic/engine/trainer_program.hpp>

int main(int argc, char** argv) { return mastic::engine::run_trainer(argc, argv); }
