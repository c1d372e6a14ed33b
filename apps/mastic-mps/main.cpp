#include <mastic/colocation/command/program.hpp>

int main(int argc, char** argv) {
    return mastic::colocation::run_mastic_mps(argc, argv);
}
