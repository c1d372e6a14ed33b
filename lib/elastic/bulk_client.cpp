#include <mastic/elastic/bulk_client.hpp>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/bulk_protocol.hpp>

namespace mastic::elastic {

namespace {

constexpr Seconds server_silence{5};

BulkAnswer::Status status_of(const std::string& name) {
    using Status = BulkAnswer::Status;
    return name == "data"       ? Status::data
           : name == "switched" ? Status::switched
           : name == "later"    ? Status::later
                                : Status::gone;
}

}  // namespace

BulkClient::BulkClient(const comm::SocketAddress& address, const Secret& secret,
                       TimedSocket::Interrupted interrupted)
    : address_(address), secret_(secret), interrupted_(std::move(interrupted)) {}

Fetched BulkClient::fetch(BulkRequest request) {
    constexpr int most_failures = 3;  // in a row, without a byte in between
    Fetched fetched;
    for (int failures = 0;;) {
        const std::size_t before = fetched.bytes.size();
        try {
            fetch_some(request, fetched);
            return fetched;
        } catch (const Error&) {
            socket_.reset();
            failures = fetched.bytes.size() > before ? 0 : failures + 1;
            if (failures >= most_failures || (interrupted_ && interrupted_())) {
                throw;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
}

void BulkClient::fetch_some(BulkRequest& request, Fetched& fetched) {
    if (!socket_) {
        socket_ = std::make_unique<TimedSocket>(TimedSocket::call(address_, secret_, server_silence, interrupted_));
    }
    request.offset = fetched.bytes.size();
    socket_->write_frame(encode_request(request));
    std::uint64_t size = 0;
    try {
        const auto answer = nlohmann::json::parse(socket_->read_frame());
        fetched.status = status_of(answer.at("status").get<std::string>());
        fetched.step = answer.at("step").get<Step>();
        fetched.generation = answer.at("generation").get<GenerationId>();
        fetched.newest = answer.at("newest").get<Step>();
        size = answer.at("size").get<std::uint64_t>();
    } catch (const nlohmann::json::exception& error) {
        throw Error(ExitCode::collective, std::string("a member answers ") + error.what());
    }
    if (fetched.status != BulkAnswer::Status::data) {
        return;
    }
    request.step = fetched.step;  // the rest must be of the same
    fetched.bytes.reserve(size);
    std::vector<std::byte> chunk(chunk_bytes);
    while (fetched.bytes.size() < size) {
        const std::span<std::byte> part(chunk.data(),
                                        std::min<std::uint64_t>(chunk.size(), size - fetched.bytes.size()));
        std::uint64_t sum = 0;
        socket_->read(std::as_writable_bytes(std::span(&sum, 1)));
        socket_->read(part);
        if (checksum(part) != sum) {
            throw Error(ExitCode::collective, "a chunk of a transfer was damaged on its way");
        }
        fetched.bytes.insert(fetched.bytes.end(), part.begin(), part.end());
    }
}

}  // namespace mastic::elastic
