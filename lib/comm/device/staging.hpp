// A group's way to device memory through host memory: its streams, its pinned memory, and how buffers are cut into chunks.
#pragma once

#include <functional>
#include <memory>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/device/staging_options.hpp>
#include <mastic/comm/device/staging_pool.hpp>
#include <mastic/comm/operation.hpp>

namespace mastic::comm {

class Staging {
  public:
    using MakeOperation = std::function<std::unique_ptr<Operation>(const BufferView& host)>;

    // `allocate` gives host memory that the group reduces fast.
    Staging(std::shared_ptr<Device> device, const StagingOptions& options, StagingPool::Allocate allocate);

    ~Staging() { drain(); }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // What of a buffer travels: to the host before its operation, back to the device after it.
    struct Way {
        bool fetch = true;
        bool put = true;
    };
    // An operation element by element, whose chunks are operations of their own.
    std::unique_ptr<Operation> in_chunks(const BufferView& buffer, Way way, const MakeOperation& make);
    // One whose buffers belong together as a whole: `make` gets both on the host. Either may be host memory already.
    using MakePairOperation =
        std::function<std::unique_ptr<Operation>(const BufferView& send, const BufferView& receive)>;
    std::unique_ptr<Operation> whole(const BufferView& send, const BufferView& receive,
                                     const MakePairOperation& make);

    void drain() noexcept;  // no copy is in flight
    const StagingPool& pool() const { return pool_; }

  private:
    std::shared_ptr<Device> device_;
    StagingOptions options_;
    StagingPool pool_;
    std::shared_ptr<CopyStream> to_host_;
    std::shared_ptr<CopyStream> to_device_;
};

}  // namespace mastic::comm
