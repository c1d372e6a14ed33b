#include <mastic/comm/cuda/kernels.hpp>

#include <cuda_runtime_api.h>

#include <mastic/comm/cuda/check.hpp>
#include <mastic/comm/cuda/kernel_bodies.hpp>
#include <mastic/comm/detail/visit_element.hpp>
#include <mastic/comm/detail/visit_half.hpp>

namespace mastic::comm::cuda {
namespace {

constexpr unsigned most_threads = 256;  // as grid_for() asks

template <class Body>
__global__ void __launch_bounds__(most_threads) run(Body body) {
    walk(body, body.range, blockIdx.x * std::size_t{blockDim.x} + threadIdx.x,
         gridDim.x * std::size_t{blockDim.x});
}

int multiprocessors() {
    int device = 0;
    check(cudaGetDevice(&device), "the current GPU");
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "the size of the GPU");
    return count;
}

template <class Body>
void launch(const Body& body, void* stream) {
    if (body.range.count == 0) {
        return;
    }
    const Grid grid = grid_for(body.range, multiprocessors());
    run<<<grid.blocks, grid.threads, 0, static_cast<cudaStream_t>(stream)>>>(body);
    check(cudaGetLastError(), "start of a kernel");
}

}  // namespace

void reduce(const BufferView& into, const void* from, ReduceOp op, void* stream) {
    detail::visit_operation(into.type, op, [&](auto element, auto operation) {
        using Element = decltype(element);
        launch(ReduceBody<Element, decltype(operation)>(static_cast<Element*>(into.data),
                                                        static_cast<const Element*>(from), into.count),
               stream);
    });
}

void scale_to_average(const BufferView& sum, int ranks, void* stream) {
    detail::visit_element(sum.type, [&](auto element) {
        using Element = decltype(element);
        launch(AverageBody<Element>(static_cast<Element*>(sum.data), sum.count, ranks), stream);
    });
}

void encode(Wire wire, float* values, std::uint16_t* out, std::size_t count, void* stream) {
    detail::visit_half(wire, [&](auto half) {
        launch(WireBody<decltype(half), detail::EncodeStep>(values, out, count), stream);
    });
}

void decode(Wire wire, const std::uint16_t* in, float* out, std::size_t count, void* stream) {
    detail::visit_half(wire, [&](auto half) {
        launch(WireBody<decltype(half), detail::DecodeStep>(out, in, count), stream);
    });
}

void decode_add(Wire wire, const std::uint16_t* in, float* sum, std::size_t count, void* stream) {
    detail::visit_half(wire, [&](auto half) {
        launch(WireBody<decltype(half), detail::DecodeAddStep>(sum, in, count), stream);
    });
}

}  // namespace mastic::comm::cuda
