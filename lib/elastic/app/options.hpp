// The options that every app has.
#pragma once

#include <cstdint>
#include <string>

#include <mastic/config/schema.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::app {

struct AppOptions {
    std::string run_dir = "runs/default";
    std::int64_t evaluate_every = 0;  // steps; 0: at the end only
    std::string join;                 // run directory of an elastic run; empty: the ranks are those of MPI
    Seconds timeout{3};               // without a sign of life of a member
    Seconds patience{120};            // for a newcomer to find the run
    Seconds checkpoint_every{300};    // 0: at the end only
    std::int64_t checkpoint_keep = 3;
};

// `options` must outlive the schema.
void declare_app_options(config::Schema& schema, AppOptions& options);

// Of everything that ranks and members must have in common: the app's own options, and `layout` of what it keeps.
std::string fingerprint_of(const config::Schema& schema, const std::string& layout);

}  // namespace mastic::app
