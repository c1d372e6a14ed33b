// The edge of a program: what its work throws becomes one message and one exit code.
#pragma once

#include <functional>
#include <string>

#include <mastic/core/error.hpp>

namespace mastic {

struct ProgramEdge {
    std::string program;  // "mastic-tune"
    // Of several processes that run this program. They mostly meet the same mistakes, so rank 0 tells those of mastic;
    // what is nobody's mistake each tells with its rank.
    int rank = 0;
    int ranks = 1;
    std::function<void(const Error&)> tell = {};  // in place of that
};

// Runs `work`, which may say in the meantime who this process is. Returns its code, or that of its error: memory for
// std::bad_alloc, environment for any other exception, io if its output could not be written.
int run_to_the_edge(ProgramEdge edge, const std::function<int(ProgramEdge&)>& work);

}  // namespace mastic
