// The program mastic-rescale.
#pragma once

namespace mastic::schedule {

int run_mastic_rescale(int argc, char** argv);  // returns the exit code

}  // namespace mastic::schedule
