// What a tuning table was measured on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mastic::tuning {

struct Machine {
    std::string cpu;                            // "AMD EPYC 9655 96-Core Processor"; empty: unknown
    int cores = 0;                              // logical ones of a node
    std::string network;                        // "eth0" or "fast fabric"; empty: unknown
    std::uint64_t network_bits_per_second = 0;  // 0: unknown
    std::string mpi;                            // "MPICH 4.0.2"
    std::string mastic;                         // version

    bool operator==(const Machine&) const = default;
};

// Of this node. The network is the fastest interface that is up; its rate is what the driver says. `root`: for tests.
Machine this_machine(const std::string& mpi, const std::filesystem::path& root = "/");

// "CPU: AMD EPYC 9655 there, AMD Ryzen 9 here", a line each: hardware that is known on both sides and differs.
std::vector<std::string> hardware_differences(const Machine& there, const Machine& here);
// The same for MPI library and mastic: measured times may have changed, choices stay possible.
std::vector<std::string> software_differences(const Machine& there, const Machine& here);

std::string to_string(const Machine& machine);  // "AMD EPYC 9655, 96 cores, eth0 at 1 Gbit/s, MPICH 4.0.2"

}  // namespace mastic::tuning
