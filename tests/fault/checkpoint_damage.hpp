// Damages the newest of two checkpoints and judges what a restore makes of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mastic::test {

struct DamageReport {
    int injected = 0;
    int detected = 0;    // the damaged generation was not used
    int named = 0;       // and the reason names the file, and the data set if the damage lies in one
    int older_used = 0;  // and the older generation came back complete
    std::vector<std::string> failures;  // one text per injection that is not all three
};

// `directory` is empty; two generations by two writers are saved there. Then, one at a time and undone after
// each: a random bit of a random byte of the newer generation's files, manifest included.
DamageReport flip_bits(const std::filesystem::path& directory, int count, std::uint64_t seed);

// The same with files cut to a random shorter length.
DamageReport cut_files(const std::filesystem::path& directory, int count, std::uint64_t seed);

}  // namespace mastic::test
