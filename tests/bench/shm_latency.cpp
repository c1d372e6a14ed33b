// Benchmark shm-latency: allreduce (float32 sum) of two ranks of one node, bound to the first two cores that this program
// may use, against a copy of the message by each rank. Microseconds: the smallest of many short repetitions, since other
// work on the machine only ever makes them longer.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mastic/comm/shm/shm_node.hpp>
#include <mastic/core/bytes.hpp>

#include "bench/bench_report.hpp"
#include "comm/shm/local_ranks.hpp"

namespace {

using namespace mastic;
using namespace mastic::comm;

void bind_to_core(int index) {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed) && index-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            sched_setaffinity(0, sizeof(one), &one);
        }
    }
}

void finish(const std::unique_ptr<Operation>& operation) {
    operation->start();
    while (operation->step() != Step::complete) {
    }
}

// Of one call, after a barrier, in microseconds; the slower rank counts.
double shortest(test::LocalGroup& group, std::size_t bytes, bool quick, const std::function<void()>& action) {
    const std::size_t calls = std::clamp<std::size_t>((std::size_t(1) << 20) / bytes, 1, 500);
    const int repetitions = (bytes > (4u << 20) ? 15 : 60) / (quick ? 3 : 1);
    action();
    double best = 1e300;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        group.barrier();
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t call = 0; call < calls; ++call) {
            action();
        }
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        best = std::min(best, took.count() / static_cast<double>(calls));
    }
    const auto all = group.allgather_strings(std::to_string(best));
    return std::max(std::stod(all[0]), std::stod(all[1]));
}

// Lines "NAME OURS MEMCPY" into the pipe.
void measure(test::LocalGroup& group, bool quick, std::FILE* out) {
    bind_to_core(group.rank());
    const auto node = ShmNode::create(group, {});
    for (const std::size_t bytes : {256u, 1u << 10, 4u << 10, 8u << 10, 16u << 10, 64u << 10, 256u << 10,
                                    1u << 20, 4u << 20, 16u << 20, 64u << 20}) {
        const std::size_t count = bytes / sizeof(float);
        const std::shared_ptr<void> shared = node->allocate(bytes);
        std::vector<float> own(count);
        std::vector<float> other(count);
        const double copy = shortest(group, bytes, quick, [&] {
            std::memcpy(other.data(), own.data(), bytes);
            asm volatile("" ::"r"(other.data()) : "memory");
        });
        const auto row = [&](const ShmMethodName& method, void* data, const char* where) {
            const BufferView view{data, count, DataType::float32};
            const double ours = shortest(group, bytes, quick, [&] {
                finish(node->make_allreduce(0, view, ReduceOp::sum, method.method));
            });
            if (group.rank() == 0) {
                std::fprintf(out, "%s/%s/%s %.3f %.3f\n", to_string(Bytes{bytes}).c_str(), where, method.name,
                             ours, copy);
            }
        };
        for (const ShmMethodName& method : shm_methods()) {
            const bool long_one_shot = method.method == ShmMethod::one_shot && bytes > (1u << 20);
            if (method.method != ShmMethod::direct && !long_one_shot) {
                row(method, own.data(), "private");
            }
            if (method.method == ShmMethod::direct || method.method == ShmMethod::automatic) {
                row(method, shared.get(), "shared");
            }
        }
    }
    std::fflush(out);
}

}  // namespace

int main(int argc, char** argv) {
    const bench::BenchOptions options = bench::parse_bench_options(argc, argv);
    std::FILE* rows = std::tmpfile();
    const auto statuses =
        test::run_ranks(2, [&](test::LocalGroup& group) { measure(group, options.quick, rows); });
    if (statuses != std::vector<int>{0, 0}) {
        return 1;
    }
    std::rewind(rows);
    std::vector<bench::BenchResult> results;
    char name[64];
    double ours = 0;
    double copy = 0;
    while (std::fscanf(rows, "%63s %lf %lf", name, &ours, &copy) == 3) {
        results.push_back({name, ours, copy, "memcpy", ours / copy, ours / copy, ours / copy, "us"});
    }
    bench::report(results, options);
    return 0;
}
