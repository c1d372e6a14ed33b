// Non-blocking TCP sockets that no child process inherits, and how those between ranks are set up.
#pragma once

#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

// Not valid, with errno, if there is none left.
Descriptor open_tcp_socket(int family);

// Small messages leave at once; no more than 512 KiB wait behind what the network takes, so that a send has not been
// queued for long; an idle connection whose host has vanished ends within `silence`. Buffer sizes are left to the kernel,
// which fits them to the network.
void set_up_connection(int socket, Seconds silence);

// Whether everything that was sent lately, if anything, was answered. Not so: lost packets, or a host that has vanished.
// A peer that does not read answers.
struct Liveness {
    bool answered = true;
    Seconds last_answer{0};  // since then
};
Liveness liveness_of(int socket);

}  // namespace mastic::comm
