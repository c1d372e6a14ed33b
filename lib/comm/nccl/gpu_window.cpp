#include <mastic/comm/nccl/gpu_window.hpp>

#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include <mastic/comm/device/device_steps.hpp>
#include <mastic/comm/device/staging_options.hpp>
#include <mastic/comm/sequence.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {
namespace {

// Calls `each` with the part of `buffer` for each filling of a window.
template <class Each>
void for_each_filling(const BufferView& buffer, Bytes window, const Each& each) {
    BufferView part = buffer;
    for (const std::size_t count : chunk_counts(buffer.count, size_of(buffer.type), window)) {
        part.count = count;
        each(part);
        part.data = static_cast<std::byte*>(part.data) + part.bytes();
    }
}

}  // namespace

GpuWindow::GpuWindow(Group& local, std::shared_ptr<Device> device, Bytes bytes)
    : local_(local), device_(std::move(device)), bytes_(bytes), own_(device_->allocate(bytes.count)) {}

std::unique_ptr<GpuWindow> GpuWindow::create(Group& local, std::shared_ptr<Device> device, Bytes bytes) {
    std::unique_ptr<GpuWindow> window;
    std::string ticket;
    try {
        run_together(local, [&] {
            window.reset(new GpuWindow(local, device, bytes));
            ticket = device->share(window->own_.get());
        });
        const std::vector<std::string> tickets = local.allgather_strings(ticket);
        run_together(local, [&] {
            for (int rank = 0; rank < local.size(); ++rank) {
                window->windows_.push_back(
                    rank == local.rank() ? window->own_
                                         : device->open_shared(tickets[static_cast<std::size_t>(rank)]));
            }
        });
        return window;
    } catch (const Error& error) {
        if (error.code() == ExitCode::collective) {
            throw;  // a rank is lost: that is no reason to go another way
        }
        if (local.rank() == 0) {
            spdlog::warn("ranks on one GPU reduce through host memory: {}", error.what());
        }
        return nullptr;
    }
}

bool GpuWindow::leads() const {
    return local_.rank() == 0;
}

std::unique_ptr<Operation> GpuWindow::barrier() {
    return make_request_step([this] { return local_.start_barrier({.name = "ranks of one GPU"}); });
}

std::unique_ptr<Operation> GpuWindow::make_reduce(const BufferView& buffer, ReduceOp op, CopyStream& stream) {
    std::vector<std::unique_ptr<Operation>> steps;
    for_each_filling(buffer, bytes_, [&](const BufferView& part) {
        if (!leads()) {
            steps.push_back(make_stream_step(
                stream, [this, &stream, part] { stream.copy(own_.get(), part.data, part.bytes()); }));
        }
        steps.push_back(barrier());  // all windows are full
        if (leads()) {
            steps.push_back(make_stream_step(stream, [this, &stream, part, op] {
                for (int rank = 1; rank < local_.size(); ++rank) {
                    device_->reduce(stream, part, windows_[static_cast<std::size_t>(rank)].get(), op);
                }
            }));
        }
        steps.push_back(barrier());  // all are read
    });
    return make_sequence(std::move(steps));
}

std::unique_ptr<Operation> GpuWindow::make_broadcast(const BufferView& buffer, CopyStream& stream) {
    std::vector<std::unique_ptr<Operation>> steps;
    for_each_filling(buffer, bytes_, [&](const BufferView& part) {
        const auto copy = [this, &stream, part] {
            if (leads()) {
                stream.copy(own_.get(), part.data, part.bytes());
            } else {
                stream.copy(part.data, windows_.front().get(), part.bytes());
            }
        };
        if (leads()) {
            steps.push_back(make_stream_step(stream, copy));
        }
        steps.push_back(barrier());  // the leader's window is full
        if (!leads()) {
            steps.push_back(make_stream_step(stream, copy));
        }
        steps.push_back(barrier());  // it is read
    });
    return make_sequence(std::move(steps));
}

}  // namespace mastic::comm
