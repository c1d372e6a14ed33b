#include <mastic/comm/cuda/device.hpp>

#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <mastic/comm/cuda/check.hpp>
#include <mastic/comm/cuda/kernels.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {
namespace {

using cuda::check;

// Calls of CUDA go to the current device of their thread. It is not put back: that would start the device before, which
// takes memory there.
void use(int ordinal) {
    int current = 0;
    check(cudaGetDevice(&current), "the current GPU");
    if (current != ordinal) {
        check(cudaSetDevice(ordinal), "change to the GPU");
    }
}

// Events to use again: making one costs more than recording it. Thread-safe.
class EventPool {
  public:
    explicit EventPool(int ordinal) : ordinal_(ordinal) {}
    ~EventPool() {
        for (const cudaEvent_t event : free_) {
            cudaEventDestroy(event);
        }
    }
    EventPool(const EventPool&) = delete;
    EventPool& operator=(const EventPool&) = delete;

    cudaEvent_t take() {
        {
            const std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                const cudaEvent_t event = free_.back();
                free_.pop_back();
                return event;
            }
        }
        use(ordinal_);
        cudaEvent_t event = nullptr;
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "a new event");
        return event;
    }
    void put_back(cudaEvent_t event) {
        const std::lock_guard lock(mutex_);
        free_.push_back(event);
    }

  private:
    const int ordinal_;
    std::mutex mutex_;
    std::vector<cudaEvent_t> free_;
};

class CudaEvent : public DeviceEvent {
  public:
    CudaEvent(std::shared_ptr<EventPool> pool, int ordinal, cudaStream_t stream)
        : pool_(std::move(pool)), event_(pool_->take()) {
        use(ordinal);
        const cudaError_t error = cudaEventRecord(event_, stream);
        if (error != cudaSuccess) {
            pool_->put_back(event_);
            check(error, "record of an event");
        }
    }
    ~CudaEvent() override { pool_->put_back(event_); }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    bool reached() override {
        const cudaError_t state = cudaEventQuery(event_);
        if (state == cudaErrorNotReady) {
            return false;
        }
        check(state, "work of the GPU");
        return true;
    }
    cudaEvent_t native() const { return event_; }

  private:
    std::shared_ptr<EventPool> pool_;
    cudaEvent_t event_;
};

class CudaStream : public CopyStream {
  public:
    CudaStream(std::shared_ptr<EventPool> events, int ordinal)
        : events_(std::move(events)), ordinal_(ordinal) {
        use(ordinal_);
        // Ahead of the kernels of a training, which fill the GPU; and not behind its default stream.
        int least = 0;
        int greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities of streams");
        check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "a new stream");
    }
    ~CudaStream() override {
        drain();
        cudaStreamDestroy(stream_);
    }
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    void copy(void* to, const void* from, std::size_t bytes) override {
        use(ordinal_);
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "a copy to or from the GPU");
    }
    std::unique_ptr<DeviceEvent> record() override {
        return std::make_unique<CudaEvent>(events_, ordinal_, stream_);
    }
    void follow(void* stream) override {
        const CudaEvent now(events_, ordinal_, static_cast<cudaStream_t>(stream));
        check(cudaStreamWaitEvent(stream_, now.native(), 0), "order of two streams");
    }
    void drain() noexcept override { cudaStreamSynchronize(stream_); }
    void* native() override { return stream_; }

  private:
    std::shared_ptr<EventPool> events_;
    const int ordinal_;
    cudaStream_t stream_ = nullptr;
};

class CudaDevice : public Device {
  public:
    explicit CudaDevice(int ordinal) : ordinal_(ordinal), events_(std::make_shared<EventPool>(ordinal)) {
        check(cudaGetDeviceProperties(&properties_, ordinal), "properties of the GPU");
        use(ordinal_);
        check(cudaFree(nullptr), "start of the GPU");
    }

    std::string name() const override { return properties_.name; }
    std::string uuid() const override { return {properties_.uuid.bytes, sizeof properties_.uuid.bytes}; }

    std::unique_ptr<CopyStream> make_stream() override {
        return std::make_unique<CudaStream>(events_, ordinal_);
    }
    std::unique_ptr<DeviceEvent> record(void* stream) override {
        return std::make_unique<CudaEvent>(events_, ordinal_, static_cast<cudaStream_t>(stream));
    }
    void reduce(CopyStream& stream, const BufferView& into, const void* from, ReduceOp op) override {
        use(ordinal_);
        cuda::reduce(into, from, op, stream.native());
    }
    void scale_to_average(CopyStream& stream, const BufferView& sum, int ranks) override {
        use(ordinal_);
        cuda::scale_to_average(sum, ranks, stream.native());
    }

    std::shared_ptr<void> allocate(std::size_t bytes) override {
        use(ordinal_);
        void* memory = nullptr;
        check(cudaMalloc(&memory, bytes), "memory on the GPU");
        return {memory, [](void* pointer) { cudaFree(pointer); }};
    }
    std::shared_ptr<void> pin(void* memory, std::size_t bytes) override {
        use(ordinal_);
        check(cudaHostRegister(memory, bytes, cudaHostRegisterPortable), "pinned memory");
        return {memory, [](void* pointer) { cudaHostUnregister(pointer); }};
    }

    std::string share(void* memory) override {
        use(ordinal_);
        cudaIpcMemHandle_t handle{};
        check(cudaIpcGetMemHandle(&handle, memory), "memory of the GPU for another process");
        return {handle.reserved, sizeof handle.reserved};
    }
    std::shared_ptr<void> open_shared(const std::string& ticket) override {
        use(ordinal_);
        cudaIpcMemHandle_t handle{};
        if (ticket.size() != sizeof handle.reserved) {
            throw Error(ExitCode::environment, "this is no handle of memory on a GPU");
        }
        std::memcpy(handle.reserved, ticket.data(), ticket.size());
        void* memory = nullptr;
        check(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
              "memory of another process on the GPU");
        return {memory, [](void* pointer) { cudaIpcCloseMemHandle(pointer); }};
    }

  private:
    const int ordinal_;
    cudaDeviceProp properties_{};
    std::shared_ptr<EventPool> events_;
};

}  // namespace

int cuda_devices() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::shared_ptr<Device> open_cuda_device(int ordinal) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "no GPU can be used");
    if (ordinal < 0 || ordinal >= count) {
        throw Error(
            ExitCode::environment,
            "there is no GPU " + std::to_string(ordinal) + ": this process may use " + std::to_string(count),
            "look at CUDA_VISIBLE_DEVICES and what Slurm granted (--gres=gpu:N)");
    }
    return std::make_shared<CudaDevice>(ordinal);
}

}  // namespace mastic::comm
