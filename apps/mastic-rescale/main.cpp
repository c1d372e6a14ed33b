#include <mastic/schedule/command/program.hpp>

int main(int argc, char** argv) {
    return mastic::schedule::run_mastic_rescale(argc, argv);
}
