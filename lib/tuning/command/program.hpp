// mastic-tune: from the command line to an exit code.
#pragma once

namespace mastic::tuning {

int run_mastic_tune(int argc, char** argv);

}  // namespace mastic::tuning
