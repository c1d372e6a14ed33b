#include <mastic/elastic/app/options.hpp>

#include <mastic/config/resolved.hpp>
#include <mastic/core/checksum.hpp>

namespace mastic::app {

void declare_app_options(config::Schema& schema, AppOptions& options) {
    schema.section("run", "Where the run lives.");
    schema
        .option("run.dir", options.run_dir,
                "run directory: checkpoints; a run that has some goes on from the newest")
        .metavar("DIR");
    schema
        .option("run.evaluate_every", options.evaluate_every, "steps between evaluations; 0: at the end only")
        .at_least(0);
    schema.section("elastic", "Members that come and go, without MPI.");
    schema
        .option("elastic.join", options.join,
                "found an elastic run in this run directory, which takes the place of run.dir, or join the "
                "one that is there")
        .metavar("DIR");
    schema
        .option("elastic.timeout", options.timeout, "a member that gives no sign of life for so long is lost")
        .at_least(Seconds{0.1})
        .advanced();
    schema.option("elastic.patience", options.patience, "how long a newcomer looks for the run's members")
        .advanced();
    schema.section("checkpoint", "Saving, in the background, checksummed.");
    schema
        .option("checkpoint.every", options.checkpoint_every, "time between checkpoints; 0: at the end only")
        .at_least(Seconds{0});
    schema.option("checkpoint.keep", options.checkpoint_keep, "how many to keep").at_least(1);
}

std::string fingerprint_of(const config::Schema& schema, const std::string& layout) {
    const std::string text = config::fingerprint(schema, {"run.", "elastic.", "checkpoint."}) + layout;
    return to_hex(checksum(std::as_bytes(std::span(text))));
}

}  // namespace mastic::app
