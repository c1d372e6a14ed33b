// Proving all checkpoints of a directory: `mastic-train --checkpoint.verify DIR`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <mastic/checkpoint/generation.hpp>

namespace mastic::checkpoint {

struct GenerationReport {
    std::string name;
    std::uint64_t step = 0;
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    std::size_t datasets = 0;
    std::vector<Finding> findings;
    bool valid() const { return findings.empty(); }
};

struct VerifyReport {
    std::vector<GenerationReport> generations;  // newest first; unfinished ones are left out
    std::vector<Finding> findings;              // outside of the generations: best.json
    bool usable() const;                        // at least one generation is valid
    bool all_valid() const;
};

// Reads everything, changes nothing.
VerifyReport verify(const std::filesystem::path& directory);

// A line per generation, and one per finding.
std::string to_text(const VerifyReport& report);

}  // namespace mastic::checkpoint
