#include <mastic/tuning/command/program.hpp>

int main(int argc, char** argv) {
    return mastic::tuning::run_mastic_tune(argc, argv);
}
