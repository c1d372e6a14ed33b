// The socket through which people and programs on this host talk to a member: JSON lines, each answered by one.
//
//   {"command": "status"}   {"command": "resize 3"}   {"command": "drain node4"}   {"command": "checkpoint"}
//
// Mode 0600. Where the path is too long for a socket (108 bytes), the socket lies in a private directory below /tmp, and the
// file of its name with ".path" says where. What killed members of this host have left is removed by the next one.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <string>

#include <mastic/comm/event_loop.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::elastic {

class ControlSocket : private comm::EventHandler {
  public:
    // `ask` passes a command on; its answers come in order. `loop` outlives it. Throws Error(io).
    ControlSocket(comm::EventLoop& loop, std::filesystem::path path,
                  std::function<void(const std::string&)> ask);
    ~ControlSocket() override;
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    void answer(const std::string& line);
    // To be called now and then.
    void forget_closed();

  private:
    struct Client;
    void ready(bool readable, bool writable) override;
    void heard(Client& client);

    comm::EventLoop& loop_;
    const std::filesystem::path path_;
    std::filesystem::path bound_;  // where the socket is
    std::function<void(const std::string&)> ask_;
    Descriptor socket_;
    std::list<Client> clients_;
    std::deque<Client*> asking_;  // whose answers are to come
};

}  // namespace mastic::elastic
