// mastic-train: from the command line to an exit code.
#pragma once

namespace mastic::engine {

int run_mastic_train(int argc, char** argv);

}  // namespace mastic::engine
