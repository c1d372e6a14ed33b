#include <mastic/tuning/machine.hpp>

#include <fstream>

#include <unistd.h>

#include <mastic/comm/collective/fabric.hpp>
#include <mastic/core/version.hpp>
#include <mastic/report/number_format.hpp>

namespace mastic::tuning {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

// The value behind the first "model name : ..." of /proc/cpuinfo.
std::string cpu_model(const fs::path& file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("model name") && line.find(':') != line.npos) {
            const std::size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
            return begin == line.npos ? "" : line.substr(begin);
        }
    }
    return "";
}

// `speed` is in Mbit/s; interfaces without one, or that are down, cannot be read or say -1.
void find_network(const fs::path& interfaces, Machine& machine) {
    std::error_code error;
    for (const auto& interface : fs::directory_iterator(interfaces, error)) {
        const std::string speed = first_line(interface.path() / "speed");
        const bool number =
            !speed.empty() && speed.size() < 10 && speed.find_first_not_of("0123456789") == speed.npos;
        const std::uint64_t rate = number ? std::stoull(speed) * 1'000'000 : 0;
        const std::string name = interface.path().filename();
        if (rate > machine.network_bits_per_second ||
            (rate > 0 && rate == machine.network_bits_per_second && name < machine.network)) {
            machine.network = name;
            machine.network_bits_per_second = rate;
        }
    }
}

std::string rate_text(std::uint64_t bits_per_second) {
    return report::significant(static_cast<double>(bits_per_second) / 1e9, 3) + " Gbit/s";
}

void compare(std::vector<std::string>& lines, const char* what, const std::string& there,
             const std::string& here) {
    if (!there.empty() && !here.empty() && there != here) {
        lines.push_back(std::string(what) + ": " + there + " there, " + here + " here");
    }
}

}  // namespace

Machine this_machine(const std::string& mpi, const fs::path& root) {
    Machine machine;
    machine.cpu = cpu_model(root / "proc/cpuinfo");
    machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    find_network(root / "sys/class/net", machine);
    if (comm::has_fast_fabric(root / "sys/class/infiniband")) {
        machine.network = "fast fabric";
        machine.network_bits_per_second = 0;
    }
    machine.mpi = mpi;
    machine.mastic = version();
    return machine;
}

std::vector<std::string> hardware_differences(const Machine& there, const Machine& here) {
    std::vector<std::string> lines;
    compare(lines, "CPU", there.cpu, here.cpu);
    compare(lines, "cores", std::to_string(there.cores), std::to_string(here.cores));
    // Interfaces may be named otherwise on each node: the rate is what counts.
    if (there.network_bits_per_second > 0 && here.network_bits_per_second > 0) {
        compare(lines, "network", rate_text(there.network_bits_per_second),
                rate_text(here.network_bits_per_second));
    } else if ((there.network == "fast fabric") != (here.network == "fast fabric")) {
        compare(lines, "network", there.network, here.network);
    }
    return lines;
}

std::vector<std::string> software_differences(const Machine& there, const Machine& here) {
    std::vector<std::string> lines;
    compare(lines, "MPI library", there.mpi, here.mpi);
    compare(lines, "mastic", there.mastic, here.mastic);
    return lines;
}

std::string to_string(const Machine& machine) {
    std::string text = (machine.cpu.empty() ? "unknown CPU" : machine.cpu) + ", " +
                       std::to_string(machine.cores) + (machine.cores == 1 ? " core" : " cores");
    if (!machine.network.empty()) {
        text += ", " + machine.network;
        if (machine.network_bits_per_second > 0) {
            text += " at " + rate_text(machine.network_bits_per_second);
        }
    }
    return text + ", " + machine.mpi;
}

}  // namespace mastic::tuning
