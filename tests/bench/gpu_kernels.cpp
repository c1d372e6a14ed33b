// Benchmark gpu-kernels: bytes per second that the kernels of comm/cuda move, against a copy inside the GPU's memory, which moves
// two bytes per byte copied. The aim is 85 %.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <mastic/comm/cuda/check.hpp>
#include <mastic/comm/cuda/device.hpp>
#include <mastic/comm/cuda/kernels.hpp>
#include <mastic/core/error.hpp>

#include "bench/bench_report.hpp"

namespace {

using namespace mastic;
using comm::BufferView;
using comm::MemoryKind;
using comm::cuda::check;

constexpr std::size_t count = 64u << 20;  // float32: 256 MiB, beyond any cache

struct Kernel {
    std::string name;
    double bytes;  // moved by one call
    std::function<void()> call;
};

class Stopwatch {
  public:
    explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
        check(cudaEventCreate(&begin_), "a new event");
        check(cudaEventCreate(&end_), "a new event");
    }
    ~Stopwatch() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    double gigabytes_per_s(const Kernel& kernel) {
        check(cudaEventRecord(begin_, stream_), "begin");
        kernel.call();
        check(cudaEventRecord(end_, stream_), "end");
        check(cudaEventSynchronize(end_), kernel.name.c_str());
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin_, end_), "time");
        return kernel.bytes / milliseconds / 1e6;
    }

  private:
    cudaStream_t stream_;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

bench::BenchResult compare(const Kernel& kernel, const Kernel& copy, Stopwatch& watch, int repetitions) {
    std::vector<double> ours;
    std::vector<double> peer;
    for (int i = -2; i < repetitions; ++i) {  // the first ones warm up
        const double of_kernel = watch.gigabytes_per_s(kernel);
        const double of_copy = watch.gigabytes_per_s(copy);
        if (i >= 0) {
            ours.push_back(of_kernel);
            peer.push_back(of_copy);
        }
    }
    return bench::compare(kernel.name, ours, peer, "device copy", "GB/s");
}

std::vector<Kernel> kernels(float* wide, float* other, std::uint16_t* narrow, void* stream) {
    const auto view = [wide](DataType type, std::size_t elements) {
        return BufferView{wide, elements, type, MemoryKind::device};
    };
    const double bytes = 4.0 * static_cast<double>(count);
    std::vector<Kernel> all;
    for (const DataType type :
         {DataType::float32, DataType::float64, DataType::bfloat16, DataType::float16}) {
        const BufferView into = view(type, 4 * count / size_of(type));
        all.push_back({std::string("reduce/sum/") + to_string(type), 3 * bytes,
                       [=] { comm::cuda::reduce(into, other, comm::ReduceOp::sum, stream); }});
    }
    all.push_back({"reduce/max/float32", 3 * bytes, [=] {
                       comm::cuda::reduce(view(DataType::float32, count), other, comm::ReduceOp::max, stream);
                   }});
    all.push_back({"average/float32", 2 * bytes,
                   [=] { comm::cuda::scale_to_average(view(DataType::float32, count), 1, stream); }});
    for (const comm::Wire wire : {comm::Wire::bfloat16, comm::Wire::float16}) {
        const std::string name = comm::to_string(wire);
        all.push_back(
            {"pack/" + name, 2.5 * bytes, [=] { comm::cuda::encode(wire, wide, narrow, count, stream); }});
        all.push_back(
            {"unpack/" + name, 1.5 * bytes, [=] { comm::cuda::decode(wire, narrow, wide, count, stream); }});
        all.push_back({"unpack-add/" + name, 2.5 * bytes,
                       [=] { comm::cuda::decode_add(wire, narrow, wide, count, stream); }});
    }
    return all;
}

void measure(const bench::BenchOptions& options) {
    const auto device = comm::open_cuda_device(0);
    const auto stream = device->make_stream();
    const auto wide = device->allocate(4 * count);
    const auto other = device->allocate(4 * count);
    const auto narrow = device->allocate(2 * count);
    const auto queue = static_cast<cudaStream_t>(stream->native());
    check(cudaMemsetAsync(wide.get(), 0, 4 * count, queue), "zeros");
    check(cudaMemsetAsync(other.get(), 0, 4 * count, queue), "zeros");
    Stopwatch watch(queue);
    const Kernel copy{"copy", 8.0 * static_cast<double>(count),
                      [&] { stream->copy(wide.get(), other.get(), 4 * count); }};
    std::vector<bench::BenchResult> results;
    for (const Kernel& kernel : kernels(static_cast<float*>(wide.get()), static_cast<float*>(other.get()),
                                        static_cast<std::uint16_t*>(narrow.get()), stream->native())) {
        results.push_back(compare(kernel, copy, watch, options.quick ? 20 : 200));
    }
    std::printf("%s, 256 MiB of float32; ratio: share of the bandwidth of a copy\n", device->name().c_str());
    bench::report(results, options);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        measure(bench::parse_bench_options(argc, argv));
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "gpu-kernels: %s\n", error.full_message().c_str());
        return static_cast<int>(error.code());
    }
}
