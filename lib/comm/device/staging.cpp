#include <mastic/comm/device/staging.hpp>

#include <algorithm>
#include <utility>

#include <mastic/comm/device/staged_operation.hpp>

namespace mastic::comm {
namespace {

BufferView on_host(const BufferView& buffer, std::size_t count, void* memory) {
    return {memory, count, buffer.type, MemoryKind::pinned};
}

}  // namespace

Staging::Staging(std::shared_ptr<Device> device, const StagingOptions& options,
                 StagingPool::Allocate allocate)
    : device_(std::move(device)),
      options_(options),
      // Unpinned before it is freed.
      pool_([device = device_, allocate = std::move(allocate)](std::size_t bytes) -> std::shared_ptr<void> {
          auto memory = allocate(bytes);
          auto pinned = device->pin(memory.get(), bytes);
          void* const data = memory.get();
          return {data, [memory = std::move(memory), pinned = std::move(pinned)](void*) mutable {
                      pinned.reset();
                      memory.reset();
                  }};
      }),
      to_host_(device_->make_stream()),
      to_device_(device_->make_stream()) {}

std::unique_ptr<Operation> Staging::in_chunks(const BufferView& buffer, Way way, const MakeOperation& make) {
    const std::vector<std::size_t> counts = chunk_counts(buffer.count, size_of(buffer.type), options_.chunk);
    StagedWork work{.to_host = to_host_, .to_device = to_device_};
    work.ready.push_back(device_->record(buffer.stream));
    const std::size_t slots = std::min<std::size_t>(counts.size(), static_cast<std::size_t>(options_.depth));
    while (work.slots.size() < slots) {
        work.slots.push_back(pool_.take(counts.front() * size_of(buffer.type)));
    }
    auto* device = static_cast<std::byte*>(buffer.data);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        void* const host = work.slots[i % slots].get();
        const BufferView part = on_host(buffer, counts[i], host);
        work.chunks.push_back({.fetch = {host, device, way.fetch ? part.bytes() : 0},
                               .operation = make(part),
                               .put = {device, host, way.put ? part.bytes() : 0}});
        device += part.bytes();
    }
    return make_staged_operation(std::move(work));
}

std::unique_ptr<Operation> Staging::whole(const BufferView& send, const BufferView& receive,
                                          const MakePairOperation& make) {
    constexpr std::size_t alignment = 64;
    const std::size_t send_bytes = is_on_device(send) ? send.bytes() : 0;
    const std::size_t receive_bytes = is_on_device(receive) ? receive.bytes() : 0;
    const std::size_t receive_begin = (send_bytes + alignment - 1) / alignment * alignment;
    StagedWork work{.to_host = to_host_, .to_device = to_device_};
    for (const BufferView* buffer : {&send, &receive}) {
        if (is_on_device(*buffer)) {
            work.ready.push_back(device_->record(buffer->stream));
        }
    }
    work.slots.push_back(pool_.take(receive_begin + receive_bytes));
    auto* const memory = static_cast<std::byte*>(work.slots.front().get());
    const auto host = [&](const BufferView& buffer, std::byte* place) {
        return is_on_device(buffer) ? on_host(buffer, buffer.count, place) : buffer;
    };
    work.chunks.push_back({.fetch = {memory, send.data, send_bytes},
                           .operation = make(host(send, memory), host(receive, memory + receive_begin)),
                           .put = {receive.data, memory + receive_begin, receive_bytes}});
    return make_staged_operation(std::move(work));
}

void Staging::drain() noexcept {
    to_host_->drain();
    to_device_->drain();
}

}  // namespace mastic::comm
