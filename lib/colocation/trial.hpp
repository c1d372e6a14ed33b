// One short run of the program, measured by what it writes into its metrics.jsonl.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <mastic/colocation/layout_search.hpp>
#include <mastic/colocation/memory_gauge.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/report/metrics.hpp>

namespace mastic::colocation {

struct TrialRequest {
    std::vector<std::string> words;  // launcher, program and arguments
    std::filesystem::path
        directory;  // of the trial; metrics.jsonl appears in it; removed with all that is in it afterwards
    Seconds limit{300};
    MemoryGauge memory;
    std::function<bool()> stop_asked;  // by a signal
};

// Never throws for a program that fails: Trial::problem then has the end of its output. Its own processes are gone when it returns.
Trial run_trial(const TrialRequest& request, int ranks_per_device);

// {dir}, {steps} and {time} replaced.
std::vector<std::string> fill_arguments(std::vector<std::string> words,
                                        const std::filesystem::path& directory, int steps, Seconds limit);

// Samples per second after the first third of the steps, in which caches and clocks settle. 0: fewer than 5 steps.
double steady_throughput(const report::Metrics& metrics);

}  // namespace mastic::colocation
