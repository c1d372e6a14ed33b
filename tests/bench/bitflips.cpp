// Benchmark bitflips: single flipped bits and cuts in all files of a checkpoint; what share was noticed,
// named, and answered with the older generation (tests/fault/checkpoint_damage.hpp says what is judged).
#include <cstdio>

#include "bench/bench_report.hpp"
#include "fault/checkpoint_damage.hpp"
#include "support/temp_dir.hpp"

int main(int argc, char** argv) {
    using namespace mastic;
    const bench::BenchOptions options = bench::parse_bench_options(argc, argv);
    const test::TempDir for_flips;
    const test::TempDir for_cuts;
    const test::DamageReport flips = test::flip_bits(for_flips.path(), options.quick ? 2000 : 10000, 11);
    const test::DamageReport cuts = test::cut_files(for_cuts.path(), options.quick ? 200 : 1000, 12);
    for (const test::DamageReport* damage : {&flips, &cuts}) {
        for (const std::string& failure : damage->failures) {
            std::fprintf(stderr, "%s\n", failure.c_str());
        }
    }
    bench::report({bench::share_result("detected", flips.detected, flips.injected, "injected"),
                   bench::share_result("named", flips.named, flips.injected, "injected"),
                   bench::share_result("older-used", flips.older_used, flips.injected, "injected"),
                   bench::share_result("cut/detected", cuts.detected, cuts.injected, "injected")},
                  options);
    return flips.failures.empty() && cuts.failures.empty() ? 0 : 1;
}
