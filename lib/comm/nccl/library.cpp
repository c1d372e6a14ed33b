#include <mastic/comm/nccl/library.hpp>

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <mastic/comm/cuda/check.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {
namespace {

[[noreturn]] void fail(ncclResult_t result, ncclComm_t comm, const char* what) {
    const std::string message =
        std::string("NCCL, ") + what + ": " + ncclGetErrorString(result) + ": " + ncclGetLastError(comm);
    switch (result) {
        case ncclInvalidUsage:
        case ncclInvalidArgument:
            throw Error(ExitCode::environment, message,
                        "do all ranks have a GPU of their own? NCCL_DEBUG=WARN says more");
        case ncclSystemError:
            throw Error(
                ExitCode::environment, message,
                "look at NCCL_DEBUG=INFO: network interface (NCCL_SOCKET_IFNAME), /dev/shm, memory limits");
        default:
            throw Error(
                ExitCode::collective, message,
                "a rank is lost or its network is: look at the other ranks' logs; NCCL_DEBUG=INFO says more");
    }
}

void check(ncclResult_t result, ncclComm_t comm, const char* what) {
    if (result != ncclSuccess && result != ncclInProgress) {
        fail(result, comm, what);
    }
}

ncclDataType_t nccl_type(DataType type) {
    switch (type) {
        case DataType::float32:
            return ncclFloat32;
        case DataType::float64:
            return ncclFloat64;
        case DataType::float16:
            return ncclFloat16;
        case DataType::bfloat16:
            return ncclBfloat16;
        case DataType::int8:
            return ncclInt8;
        case DataType::int32:
            return ncclInt32;
        case DataType::int64:
            return ncclInt64;
        case DataType::uint8:
        case DataType::boolean:
            return ncclUint8;
        case DataType::int16:
            break;
    }
    throw Error(ExitCode::usage, std::string("NCCL has no ") + to_string(type), "reduce it on the host");
}

ncclRedOp_t nccl_operation(ReduceOp op) {
    return op == ReduceOp::min ? ncclMin : op == ReduceOp::max ? ncclMax : ncclSum;
}

// One thread at a time may call NCCL on a communicator; a group starts operations on one and looks after them on another.
class Communicator : public NcclCommunicator {
  public:
    Communicator(int ordinal, const std::string& id, int ranks, int rank) : ordinal_(ordinal) {
        cuda::check(cudaSetDevice(ordinal_), "change to the GPU");
        ncclUniqueId unique{};
        std::memcpy(unique.internal, id.data(), std::min(id.size(), sizeof unique.internal));
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        comm::check(ncclCommInitRankConfig(&comm_, ranks, unique, rank, &config), comm_,
                    "start of a communicator");
    }

    ~Communicator() override {
        const std::lock_guard lock(mutex_);
        if (comm_ != nullptr && finalized()) {
            ncclCommDestroy(comm_);
        } else if (comm_ != nullptr) {
            ncclCommAbort(comm_);
        }
    }
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    bool ready() override {
        const std::lock_guard lock(mutex_);
        return is_ready();
    }

    void allreduce(const BufferView& buffer, ReduceOp op, CopyStream& stream) override {
        const ncclDataType_t type = nccl_type(buffer.type);
        call("allreduce", [&] {
            return ncclAllReduce(buffer.data, buffer.data, buffer.count, type, nccl_operation(op), comm_,
                                 static_cast<cudaStream_t>(stream.native()));
        });
    }
    void broadcast(const BufferView& buffer, int root, CopyStream& stream) override {
        call("broadcast", [&] {
            return ncclBroadcast(buffer.data, buffer.data, buffer.bytes(), ncclUint8, root, comm_,
                                 static_cast<cudaStream_t>(stream.native()));
        });
    }

    void abort() noexcept override {
        const std::lock_guard lock(mutex_);
        if (comm_ != nullptr) {
            ncclCommAbort(comm_);
            comm_ = nullptr;
        }
    }

  private:
    template <class Call>
    void call(const char* what, const Call& function) {
        const std::lock_guard lock(mutex_);
        require_alive();
        cuda::check(cudaSetDevice(ordinal_), "change to the GPU");
        comm::check(function(), comm_, what);
    }

    void require_alive() const {
        if (comm_ == nullptr) {
            throw Error(ExitCode::collective, "this communicator of NCCL was aborted");
        }
    }

    bool is_ready() const {
        require_alive();
        ncclResult_t state = ncclSuccess;
        comm::check(ncclCommGetAsyncError(comm_, &state), comm_, "state of a communicator");
        comm::check(state, comm_, "work of the communicator");
        return state == ncclSuccess;
    }

    // Within a bound: other ranks may be gone.
    bool finalized() const noexcept {
        constexpr auto bound = std::chrono::seconds(5);
        try {
            comm::check(ncclCommFinalize(comm_), comm_, "end of a communicator");
            const auto deadline = std::chrono::steady_clock::now() + bound;
            while (!is_ready()) {
                if (std::chrono::steady_clock::now() > deadline) {
                    return false;
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            return true;
        } catch (const Error&) {
            return false;
        }
    }

    const int ordinal_;
    mutable std::mutex mutex_;
    ncclComm_t comm_ = nullptr;
};

class Library : public NcclLibrary {
  public:
    explicit Library(int ordinal) : ordinal_(ordinal) {}
    int version() const override {
        int version = 0;
        comm::check(ncclGetVersion(&version), nullptr, "version");
        return version;
    }
    std::string make_id() override {
        ncclUniqueId id{};
        comm::check(ncclGetUniqueId(&id), nullptr, "a new identity");
        return {id.internal, sizeof id.internal};
    }
    std::unique_ptr<NcclCommunicator> start(const std::string& id, int ranks, int rank) override {
        return std::make_unique<Communicator>(ordinal_, id, ranks, rank);
    }

  private:
    const int ordinal_;
};

}  // namespace

bool has_nccl() {
    return true;
}

std::shared_ptr<NcclLibrary> open_nccl(int ordinal) {
    return std::make_shared<Library>(ordinal);
}

}  // namespace mastic::comm
