// Benchmark kill-during-save: SIGKILL at random moments of saves; what share of the restarts found the newest
// committed state, complete (tests/fault/checkpoint_kills.hpp says what is judged).
#include <cstdio>

#include "bench/bench_report.hpp"
#include "fault/checkpoint_kills.hpp"
#include "support/temp_dir.hpp"

int main(int argc, char** argv) {
    using namespace mastic;
    const bench::BenchOptions options = bench::parse_bench_options(argc, argv);
    const int kills = options.quick ? 150 : 500;
    test::KillReport sum;
    for (const bool asynchronous : {false, true}) {
        const test::TempDir directory;
        test::KillPlan plan;
        plan.kills = kills;
        plan.asynchronous = asynchronous;
        plan.seed = asynchronous ? 2 : 1;
        const test::KillReport part = test::kill_during_saves(directory.path(), plan);
        sum.kills += part.kills;
        sum.right += part.right;
        sum.inside_save += part.inside_save;
        sum.failures.insert(sum.failures.end(), part.failures.begin(), part.failures.end());
    }
    for (const std::string& failure : sum.failures) {
        std::fprintf(stderr, "%s\n", failure.c_str());
    }
    std::printf("%d kills, %d of them inside a save\n", sum.kills, sum.inside_save);
    bench::report({bench::share_result("restored", sum.right, sum.kills, "kills")}, options);
    return sum.failures.empty() ? 0 : 1;
}
