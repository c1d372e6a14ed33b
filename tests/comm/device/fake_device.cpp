#include "comm/device/fake_device.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mastic/comm/reduction.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>

namespace mastic::test {
namespace {

struct Work {
    std::function<bool()> run;  // false: not yet
    int looks_left = 0;
};

struct Queue {
    std::deque<Work> work;
    std::uint64_t put = 0;   // in all
    std::uint64_t done = 0;  // in all
    bool failed = false;
};

struct Piece {
    Descriptor file;
    std::size_t bytes = 0;
};

void unmap(const std::shared_ptr<Piece>& piece, void* memory) {
    munmap(memory, piece->bytes);
}

}  // namespace

// The caller's thread and the progress thread use it.
struct FakeDevice::State {
    mutable std::recursive_mutex mutex;
    FakeDeviceOptions options;
    std::mt19937_64 random;
    std::vector<std::weak_ptr<Queue>> queues;
    std::map<void*, std::weak_ptr<Piece>> pieces;
    int copies = 0;
    int in_flight = 0;
    int most_in_flight = 0;
    int pins = 0;

    void* at(const void* address) const {
        void* const there = const_cast<void*>(address);
        return options.host_address ? options.host_address(there) : there;
    }

    void put(Queue& queue, std::function<bool()> run) {
        const std::lock_guard lock(mutex);
        const int looks = std::uniform_int_distribution<int>(1, std::max(options.longest_delay, 1))(random);
        queue.work.push_back({std::move(run), looks});
        ++queue.put;
        most_in_flight = std::max(most_in_flight, ++in_flight);
    }

    void try_first(Queue& queue) {
        if (!queue.failed && !queue.work.front().run()) {
            return;
        }
        queue.work.pop_front();
        ++queue.done;
        --in_flight;
    }

    // Time passes for all streams, one piece of work each.
    void look() {
        for (const auto& weak : queues) {
            const auto queue = weak.lock();
            if (queue && !queue->work.empty() && queue->work.front().looks_left-- <= 1) {
                try_first(*queue);
            }
        }
    }
};

class FakeDevice::Event : public comm::DeviceEvent {
  public:
    Event(std::shared_ptr<State> state, std::shared_ptr<Queue> queue)
        : state_(std::move(state)), queue_(std::move(queue)) {
        const std::lock_guard lock(state_->mutex);
        place_ = queue_ ? queue_->put : 0;
    }
    bool reached() override {
        const std::lock_guard lock(state_->mutex);
        state_->look();
        if (queue_ && queue_->failed) {
            throw Error(ExitCode::environment, "work of the fake device: it failed");
        }
        return !queue_ || queue_->done >= place_;
    }

  private:
    std::shared_ptr<State> state_;
    std::shared_ptr<Queue> queue_;
    std::uint64_t place_ = 0;
};

class FakeDevice::Stream : public comm::CopyStream {
  public:
    explicit Stream(std::shared_ptr<State> state)
        : state_(std::move(state)), queue_(std::make_shared<Queue>()) {
        const std::lock_guard lock(state_->mutex);
        state_->queues.push_back(queue_);
    }
    ~Stream() override { drain(); }

    void copy(void* to, const void* from, std::size_t bytes) override {
        const std::lock_guard lock(state_->mutex);
        const bool fails = state_->copies++ == state_->options.failing_copy;
        put([this, to = state_->at(to), from = state_->at(from), bytes, fails] {
            queue_->failed = queue_->failed || fails;
            std::memcpy(to, from, queue_->failed ? 0 : bytes);
            return true;
        });
    }
    void put(std::function<bool()> run) { state_->put(*queue_, std::move(run)); }
    std::unique_ptr<comm::DeviceEvent> record() override { return std::make_unique<Event>(state_, queue_); }
    void follow(void* stream) override {
        if (stream == nullptr) {
            return;
        }
        const std::lock_guard lock(state_->mutex);
        const auto other = static_cast<Stream*>(stream)->queue_;
        put([other, place = other->put] { return other->done >= place; });
    }
    void drain() noexcept override {
        const std::lock_guard lock(state_->mutex);
        while (!queue_->work.empty()) {
            state_->look();  // its work may wait for that of others
        }
    }
    void* native() override { return this; }

  private:
    std::shared_ptr<State> state_;
    std::shared_ptr<Queue> queue_;
};

FakeDevice::FakeDevice(const FakeDeviceOptions& options)
    : options_(options), state_(std::make_shared<State>()) {
    state_->options = options;
    state_->random.seed(options.seed);
}

std::unique_ptr<comm::CopyStream> FakeDevice::make_stream() {
    return std::make_unique<Stream>(state_);
}

std::unique_ptr<comm::DeviceEvent> FakeDevice::record(void* stream) {
    return stream == nullptr ? std::make_unique<Event>(state_, nullptr)
                             : static_cast<Stream*>(stream)->record();
}

void FakeDevice::reduce(comm::CopyStream& stream, const comm::BufferView& into, const void* from,
                        comm::ReduceOp op) {
    dynamic_cast<Stream&>(stream).put([into, to = state_->at(into.data), from = state_->at(from), op] {
        comm::find_reduce(into.type, op)(to, from, into.count);
        return true;
    });
}

void FakeDevice::scale_to_average(comm::CopyStream& stream, const comm::BufferView& sum, int ranks) {
    comm::BufferView there = sum;
    there.data = state_->at(sum.data);
    dynamic_cast<Stream&>(stream).put([there, ranks] {
        comm::scale_to_average(there, ranks);
        return true;
    });
}

void FakeDevice::put(comm::CopyStream& stream, std::function<bool()> work) {
    dynamic_cast<Stream&>(stream).put(std::move(work));
}

// A file in memory, which another process opens through this one's descriptor.
std::shared_ptr<void> FakeDevice::allocate(std::size_t bytes) {
    auto piece = std::make_shared<Piece>(
        Piece{Descriptor(memfd_create("fake device", MFD_CLOEXEC)), std::max<std::size_t>(bytes, 1)});
    if (ftruncate(piece->file.get(), static_cast<off_t>(piece->bytes)) != 0) {
        throw Error(ExitCode::memory, "no memory for the fake device");
    }
    void* const memory =
        mmap(nullptr, piece->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, piece->file.get(), 0);
    state_->pieces[memory] = piece;
    return {memory, [piece](void* data) { unmap(piece, data); }};
}

std::shared_ptr<void> FakeDevice::pin(void* memory, std::size_t) {
    const std::lock_guard lock(state_->mutex);
    ++state_->pins;
    return {memory, [state = state_](void*) {
                const std::lock_guard unpinning(state->mutex);
                --state->pins;
            }};
}

std::string FakeDevice::share(void* memory) {
    const auto piece = state_->pieces.at(memory).lock();
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(piece->file.get());
}

std::shared_ptr<void> FakeDevice::open_shared(const std::string& ticket) {
    if (!options_.shares) {
        throw Error(ExitCode::environment, "memory of another process on the fake device: not permitted");
    }
    auto piece = std::make_shared<Piece>(Piece{Descriptor(open(ticket.c_str(), O_RDWR | O_CLOEXEC))});
    const off_t bytes = lseek(piece->file.get(), 0, SEEK_END);
    if (bytes <= 0) {
        throw Error(ExitCode::environment, "cannot open " + ticket);
    }
    piece->bytes = static_cast<std::size_t>(bytes);
    void* const memory =
        mmap(nullptr, piece->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, piece->file.get(), 0);
    return {memory, [piece](void* data) { unmap(piece, data); }};
}

int FakeDevice::copies() const {
    const std::lock_guard lock(state_->mutex);
    return state_->copies;
}
int FakeDevice::in_flight() const {
    const std::lock_guard lock(state_->mutex);
    return state_->in_flight;
}
int FakeDevice::most_in_flight() const {
    const std::lock_guard lock(state_->mutex);
    return state_->most_in_flight;
}
int FakeDevice::pins() const {
    const std::lock_guard lock(state_->mutex);
    return state_->pins;
}

}  // namespace mastic::test
