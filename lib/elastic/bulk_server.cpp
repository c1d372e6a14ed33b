#include <mastic/elastic/bulk_server.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/bulk_protocol.hpp>
#include <mastic/elastic/timed_socket.hpp>

namespace mastic::elastic {

namespace {

constexpr std::size_t most_transfers = 16;
constexpr Seconds client_silence{10};

const char* name_of(BulkAnswer::Status status) {
    constexpr const char* names[] = {"data", "switched", "later", "gone"};
    return names[static_cast<int>(status)];
}

}  // namespace

BulkServer::~BulkServer() {
    stopping_ = true;
    for (Transfer& transfer : transfers_) {
        transfer.thread.join();
    }
}

void BulkServer::join_finished() {
    transfers_.remove_if([](Transfer& transfer) {
        if (transfer.over) {
            transfer.thread.join();
        }
        return transfer.over.load();
    });
}

void BulkServer::serve(Descriptor connection, std::string first_request) {
    join_finished();
    if (transfers_.size() >= most_transfers) {
        return;  // closed: the other end tries again
    }
    Transfer& transfer = transfers_.emplace_back();
    transfer.thread = std::thread(
        [this, &transfer, socket = std::move(connection), request = std::move(first_request)]() mutable {
            run(std::move(socket), std::move(request));
            transfer.over = true;
        });
}

void BulkServer::run(Descriptor connection, std::string request) {
    std::string member;
    try {
        TimedSocket socket(std::move(connection), client_silence, [this] { return stopping_.load(); });
        std::vector<std::byte> chunk(chunk_bytes);
        while (!stopping_) {  // one that asks again at once would be answered for ever
            const BulkRequest wanted = decode_request(request);
            member = wanted.member;
            const BulkAnswer answer = log_.answer(wanted, long_poll);
            const std::uint64_t size = answer.blob.size();
            socket.write_frame(nlohmann::json{
                {"status", name_of(answer.status)},
                {"step", answer.step},
                {"generation", answer.generation},
                {"newest", answer.newest},
                {"size", size}}.dump());
            for (std::uint64_t at = std::min(wanted.offset, size); at < size;) {
                const std::size_t count = std::min<std::uint64_t>(chunk.size(), size - at);
                const std::span<std::byte> part(chunk.data(), count);
                answer.blob.read(at, part);
                const std::uint64_t sum = checksum(part);
                pace(count);
                log_.touch(member);
                socket.write(std::as_bytes(std::span(&sum, 1)));
                socket.write(part);
                at += count;
            }
            socket.wait_until_readable();
            request = socket.read_frame();
        }
    } catch (const std::exception& error) {
        // The other end has all that it wanted, or it is lost: then it asks somebody else.
        spdlog::debug("transfer to member {}: {}", member, error.what());
    }
}

void BulkServer::pace(std::size_t bytes) {
    Seconds delay{0};
    {
        const std::lock_guard lock(mutex_);
        delay = bucket_.take(bytes, std::chrono::steady_clock::now().time_since_epoch());
    }
    constexpr Seconds slice{0.05};
    for (; delay.count() > 0 && !stopping_; delay -= slice) {
        std::this_thread::sleep_for(std::min(delay, slice));
    }
}

}  // namespace mastic::elastic
