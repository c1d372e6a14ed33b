#include <mastic/comm/collective/fabric.hpp>

#include <fstream>
#include <string>

namespace mastic::comm {

namespace fs = std::filesystem;

// A port's `state` says "4: ACTIVE".
bool has_fast_fabric(const fs::path& devices) {
    std::error_code error;
    for (const auto& device : fs::directory_iterator(devices, error)) {
        for (const auto& port : fs::directory_iterator(device.path() / "ports", error)) {
            std::string state;
            std::getline(std::ifstream(port.path() / "state") >> std::ws, state);
            if (state.find("ACTIVE") != std::string::npos) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace mastic::comm
