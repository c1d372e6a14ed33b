#include <hdf5.h>
#include <torch/torch.h>

#include <torch/version.h>

#include <mastic/comm/mpi/session.hpp>
#include <mastic/core/version.hpp>
#include <mastic/engine/versions.hpp>
#include <nlohmann/json.hpp>

namespace mastic::engine {
namespace {

std::string built_and_run(const std::string& built, const std::string& run) {
    return built == run ? run : run + " (built with " + built + ")";
}

std::string hdf5_running() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

std::string hdf5_headers() {
    return std::to_string(H5_VERS_MAJOR) + "." + std::to_string(H5_VERS_MINOR) + "." + std::to_string(H5_VERS_RELEASE);
}

}  // namespace

std::map<std::string, std::string> library_versions() {
    return {
        {"MPI", built_and_run(comm::mpi_header_version(), comm::mpi_library_version())},
        {"HDF5", built_and_run(hdf5_headers(), hdf5_running())},
        {"torch", TORCH_VERSION},
        {"CUDA", torch::cuda::is_available() ? "available" : "not used"},
        {"NCCL", "not built in"},
        {"compiler", "GCC " __VERSION__},
    };
}

std::string version_text(const std::string& program) {
    std::string text = program + " " + version() + "\n";
    for (const auto& [library, version] : library_versions()) {
        text += "  " + library + std::string(10 - std::min<std::size_t>(9, library.size()), ' ') + version + "\n";
    }
    return text;
}

std::string version_json(const std::string& program) {
    nlohmann::json json = {{"program", program}, {"version", version()}, {"libraries", library_versions()}};
    return json.dump(2) + "\n";
}

}  // namespace mastic::engine
