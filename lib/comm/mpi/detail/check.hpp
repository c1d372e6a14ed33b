// MPI's return codes as exceptions.
#pragma once

#include <string>

#include <mpi.h>

#include <mastic/core/error.hpp>

namespace mastic::comm::detail {

inline void check(int code, const char* call) {
    if (code == MPI_SUCCESS) {
        return;
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(ExitCode::collective, std::string(call) + " failed: " + text,
                "a rank was lost, or ranks called different operations: look at the other ranks' logs");
}

}  // namespace mastic::comm::detail
