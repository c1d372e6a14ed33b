// The trainer: mastic-train with everything in it.
#pragma once

namespace mastic::engine {

int run_trainer(int argc, char** argv);

}  // namespace mastic::engine
