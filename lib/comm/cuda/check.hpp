// From CUDA's codes to errors of mastic.
#pragma once

namespace mastic::comm::cuda {

// `code` is a cudaError_t. Throws Error(memory) where the GPU has no memory left, else Error(environment): "WHAT: text of CUDA".
void check(int code, const char* what);

// Error(environment): this mastic was built without CUDA.
[[noreturn]] void throw_unavailable();

}  // namespace mastic::comm::cuda
