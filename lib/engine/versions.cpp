#include <mastic/engine/versions.hpp>

#include <hdf5.h>
#include <torch/torch.h>

#include <torch/version.h>

#include <mastic/comm/cuda/version.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/comm/nccl/version.hpp>

namespace mastic::engine {
namespace {

std::string hdf5_running() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

std::string hdf5_headers() {
    return std::to_string(H5_VERS_MAJOR) + "." + std::to_string(H5_VERS_MINOR) + "." + std::to_string(H5_VERS_RELEASE);
}

}  // namespace

LibraryVersions library_versions() {
    return {
        {"MPI", built_and_run(comm::mpi_header_version(), comm::mpi_library_version())},
        {"HDF5", built_and_run(hdf5_headers(), hdf5_running())},
        {"torch", torch::cuda::is_available() ? TORCH_VERSION " with CUDA" : TORCH_VERSION},
        {"CUDA", comm::cuda_version()},
        {"NCCL", comm::nccl_version()},
        {"compiler", "GCC " __VERSION__},
    };
}

}  // namespace mastic::engine
