// A socket that is open for callers before anybody is there to answer them: they wait in the kernel until then.
#pragma once

#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::comm {

class ListeningSocket {
  public:
    // On a free port if `address` has none. Throws Error(environment).
    explicit ListeningSocket(const SocketAddress& address);
    // On every address of this host.
    static ListeningSocket on_every_address();

    int get() const { return socket_.get(); }
    const SocketAddress& address() const { return address_; }  // with the port

  private:
    Descriptor socket_;
    SocketAddress address_;
};

}  // namespace mastic::comm
