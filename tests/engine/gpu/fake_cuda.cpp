#include "engine/gpu/fake_cuda.hpp"

#include <torch/torch.h>

#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include "comm/device/fake_device.hpp"
#include "engine/gpu/guarded_memory.hpp"

namespace mastic::test {
namespace {

GuardedMemory& memory() {
    static GuardedMemory all(std::size_t{1} << 30);
    return all;
}

const c10::Device the_gpu(c10::kCUDA, 0);
const c10::Stream the_stream(c10::Stream::DEFAULT, the_gpu);

void free_on_device(void* address) { memory().free(address); }

struct GpuAllocator : c10::Allocator {
    c10::DataPtr allocate(std::size_t bytes) const override {
        void* const address = memory().allocate(bytes);
        return {address, address, &free_on_device, the_gpu};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &free_on_device; }
};

GpuAllocator& allocator() {
    static GpuAllocator one;
    return one;
}

// What torch asks of CUDA itself.
struct GpuHooks : at::CUDAHooksInterface {
    explicit GpuHooks(at::CUDAHooksArgs) {}
    void initCUDA() const override {}
    bool hasCUDA() const override { return true; }
    bool hasPrimaryContext(std::int64_t) const override { return true; }
    std::int64_t current_device() const override { return 0; }
    int getNumGPUs() const override { return 1; }
    void deviceSynchronize(std::int64_t) const override {}
    at::Device getDeviceFromPtr(void*) const override { return the_gpu; }
    at::Allocator* getCUDADeviceAllocator() const override { return &allocator(); }
    const at::Generator& getDefaultCUDAGenerator(c10::DeviceIndex) const override {
        static const at::Generator generator = at::detail::createCPUGenerator();
        return generator;
    }
};

// Backward runs in a thread of the device, as with a real one.
struct GpuGuard : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return c10::kCUDA; }
    c10::Device exchangeDevice(c10::Device) const override { return the_gpu; }
    c10::Device getDevice() const override { return the_gpu; }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device) const noexcept override { return the_stream; }
    c10::Stream getDefaultStream(c10::Device) const override { return the_stream; }
    c10::Stream exchangeStream(c10::Stream) const noexcept override { return the_stream; }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }
    void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
    void block(void*, const c10::Stream&) const override {}
    bool queryEvent(void*) const override { return true; }
    void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
    bool queryStream(const c10::Stream&) const override { return true; }
    void synchronizeStream(const c10::Stream&) const override {}
    void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};

// A tensor of the processor over the same memory.
at::Tensor on_host(const at::Tensor& tensor) {
    if (!tensor.is_cuda()) {
        return tensor;
    }
    return at::from_blob(memory().on_host(tensor.data_ptr()), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

at::Tensor empty(at::IntArrayRef size, c10::optional<at::ScalarType> type, c10::optional<at::Layout>, c10::optional<at::Device>,
                 c10::optional<bool>, c10::optional<at::MemoryFormat> format) {
    return at::detail::empty_generic(size, &allocator(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                     c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, c10::optional<at::ScalarType> type,
                         c10::optional<at::Layout>, c10::optional<at::Device>, c10::optional<bool>) {
    return at::detail::empty_strided_generic(size, stride, &allocator(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                             c10::dtype_or_default(type));
}

at::Tensor& copy(at::Tensor& into, const at::Tensor& from, bool) {
    on_host(into).copy_(on_host(from));
    return into;
}

at::Tensor copy_result(const at::Tensor& from, const at::Tensor& into) {
    TORCH_CHECK(from.sizes() == into.sizes(), "the fake GPU does not resize tensors");
    on_host(into).copy_(on_host(from));
    return into;
}

at::Scalar read_scalar(const at::Tensor& tensor) { return on_host(tensor).item(); }

void run_on_the_processor(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
    at::native::cpu_fallback(operation, stack);
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_the_processor>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
    library.impl("empty.memory_format", &empty);
    library.impl("empty_strided", &empty_strided);
    library.impl("copy_", &copy);
    library.impl("_copy_from_and_resize", &copy_result);
    library.impl("_local_scalar_dense", &read_scalar);
    library.impl("view", &at::native::view);
    library.impl("_reshape_alias", &at::native::_reshape_alias);
    library.impl("as_strided", &at::native::as_strided_tensorimpl);
}

}  // namespace

engine::GpuSource fake_gpus() {
    return {.count = [] { return 1; },
            .open = [](int) -> std::shared_ptr<comm::Device> {
                return std::make_shared<FakeDevice>(
                    FakeDeviceOptions{.host_address = [](void* address) { return memory().on_host(address); }});
            },
            .open_nccl = {}};
}

}  // namespace mastic::test

namespace c10::impl {
using mastic::test::GpuGuard;
C10_REGISTER_GUARD_IMPL(CUDA, GpuGuard);
}  // namespace c10::impl

namespace at {
using CUDAHooks = mastic::test::GpuHooks;  // torch looks for this name
REGISTER_CUDA_HOOKS(CUDAHooks);
}  // namespace at
