// A connection between members whose user waits for it, with a bound and an eye on whether it is still worth while.
#pragma once

#include <functional>
#include <span>
#include <string>

#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/elastic/secret.hpp>

namespace mastic::elastic {

class TimedSocket {
  public:
    using Interrupted = std::function<bool()>;  // asked several times a second

    // All functions throw Error(collective): the other end is gone, or says nothing for `silence`; or interrupted.
    TimedSocket(Descriptor socket, Seconds silence, Interrupted interrupted);
    // Connects, and proves the secret.
    static TimedSocket call(const comm::SocketAddress& address, const Secret& secret, Seconds silence,
                            Interrupted interrupted);

    void write(std::span<const std::byte> bytes);
    void read(std::span<std::byte> bytes);
    // Waits for as long as it takes: the other end may have nothing to say.
    void wait_until_readable();
    void write_frame(const std::string& content);
    std::string read_frame();

  private:
    void wait(short events, bool bounded);
    [[noreturn]] void fail(const std::string& why) const;

    Descriptor socket_;
    Seconds silence_;
    Interrupted interrupted_;
};

}  // namespace mastic::elastic
