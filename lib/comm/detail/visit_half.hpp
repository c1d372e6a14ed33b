// From a 16-bit wire to the C++ type of what travels.
#pragma once

#include <mastic/comm/half.hpp>
#include <mastic/comm/wire.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm::detail {

// Calls `visit` with a value of the type that travels.
template <class Visitor>
void visit_half(Wire wire, Visitor visit) {
    switch (wire) {
        case Wire::bfloat16:
            return visit(BFloat16{});
        case Wire::float16:
            return visit(Float16{});
        case Wire::exact:
            break;
    }
    throw Error(ExitCode::usage, "an exact wire has no encoding");
}

}  // namespace mastic::comm::detail
