// The program mastic-mps.
#pragma once

namespace mastic::colocation {

int run_mastic_mps(int argc, char** argv);  // returns the exit code

}  // namespace mastic::colocation
