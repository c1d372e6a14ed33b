// A device of host memory whose streams are as asynchronous as they may be: work is done, in the order of its stream, only
// after a random number of looks at any event. What reads too early or writes too late gets wrong results, every time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include <mastic/comm/device/device.hpp>

namespace mastic::test {

struct FakeDeviceOptions {
    std::uint64_t seed = 1;
    int longest_delay = 5;      // looks
    int failing_copy = -1;      // the copy of this number fails, of all streams
    std::string uuid = "fake";  // 16 bytes of a real one
    bool shares = true;         // processes see one another's memory
    // Where the host finds what is at an address of the device; of other addresses, itself. Empty: device memory is host memory.
    std::function<void*(void*)> host_address = {};
};

class FakeDevice : public comm::Device {
  public:
    explicit FakeDevice(const FakeDeviceOptions& options = {});

    std::string name() const override { return "fake device"; }
    std::string uuid() const override { return options_.uuid; }
    std::unique_ptr<comm::CopyStream> make_stream() override;
    // `stream` is a FakeStream's native(), or null for the empty default stream.
    std::unique_ptr<comm::DeviceEvent> record(void* stream) override;
    void reduce(comm::CopyStream& stream, const comm::BufferView& into, const void* from,
                comm::ReduceOp op) override;
    void scale_to_average(comm::CopyStream& stream, const comm::BufferView& sum, int ranks) override;
    std::shared_ptr<void> allocate(std::size_t bytes) override;
    std::shared_ptr<void> pin(void* memory, std::size_t bytes) override;
    std::string share(void* memory) override;
    std::shared_ptr<void> open_shared(const std::string& ticket) override;

    // Work of any kind: called again at later looks until it says that it is done.
    void put(comm::CopyStream& stream, std::function<bool()> work);

    int copies() const;          // put into streams so far
    int in_flight() const;       // work in all streams that is not done
    int most_in_flight() const;  // at any time
    int pins() const;            // pinned pieces at present

  private:
    struct State;
    class Stream;
    class Event;

    FakeDeviceOptions options_;
    std::shared_ptr<State> state_;
};

}  // namespace mastic::test
