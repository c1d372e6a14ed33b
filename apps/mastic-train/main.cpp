#include <mastic/engine/program.hpp>

int main(int argc, char** argv) { return mastic::engine::run_mastic_train(argc, argv); }
