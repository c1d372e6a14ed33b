// Fetches from another member what its step log keeps. Every chunk is checked; a transfer that breaks off goes on where it
// was, as long as the other end keeps what it was of.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/elastic/secret.hpp>
#include <mastic/elastic/step_log.hpp>
#include <mastic/elastic/timed_socket.hpp>

namespace mastic::elastic {

struct Fetched {
    BulkAnswer::Status status = BulkAnswer::Status::gone;
    Step step = 0;
    GenerationId generation = 0;
    Step newest = 0;  // that the other end has completed
    std::vector<std::byte> bytes{};
};

class BulkClient {
  public:
    BulkClient(const comm::SocketAddress& address, const Secret& secret,
               TimedSocket::Interrupted interrupted);

    // Throws Error(collective): the other end is lost, several times in a row, or the caller is not interested any more.
    Fetched fetch(BulkRequest request);

  private:
    void fetch_some(BulkRequest& request, Fetched& fetched);

    const comm::SocketAddress address_;
    const Secret secret_;
    const TimedSocket::Interrupted interrupted_;
    std::unique_ptr<TimedSocket> socket_;
};

}  // namespace mastic::elastic
