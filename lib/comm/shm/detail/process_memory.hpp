// The memory of another process of the same node, copied by the kernel at once (cross-memory attach, CMA): one copy where
// a detour over shared memory takes two.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include <mastic/core/error.hpp>

namespace mastic::comm::detail {

struct RemoteProcess {
    pid_t id = 0;
    int rank = 0;  // for messages
};

class ProcessGone : public Error {
  public:
    using Error::Error;
};

// Throw Error(collective) naming the rank: ProcessGone, or Error if the memory is not all there (a device buffer).
void read_process(const RemoteProcess& from, std::uint64_t address, void* into, std::size_t bytes);
void write_process(const RemoteProcess& to, std::uint64_t address, const void* from, std::size_t bytes);

// Whether `expected` can be read there: false also if that id means another process here (a PID namespace of its own).
bool process_holds(pid_t id, std::uint64_t address, std::uint64_t expected);

// Where the kernel's Yama forbids the above between siblings (Ubuntu's default), allows it to this process' parent and
// what descends from it: the ranks under one launcher, not all processes of the user.
void permit_siblings();

}  // namespace mastic::comm::detail
