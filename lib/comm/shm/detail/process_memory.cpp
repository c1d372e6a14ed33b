#include <mastic/comm/shm/detail/process_memory.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace mastic::comm::detail {
namespace {

constexpr std::size_t most_per_call = 0x7ffff000;  // what Linux transfers in one call, see read(2)

[[noreturn]] void fail(const RemoteProcess& process, const char* verb) {
    const std::string who =
        "rank " + std::to_string(process.rank) + " (process " + std::to_string(process.id) + ")";
    if (errno == ESRCH) {
        throw ProcessGone(ExitCode::collective, who + " has gone", "its own output may say why");
    }
    throw Error(ExitCode::collective,
                std::string("cannot ") + verb + " the buffer of " + who + ": " +
                    std::generic_category().message(errno),
                "a buffer must be ordinary memory, all of it, until its operation is done");
}

// A transfer may stop early where the next page is missing: the call after that says why.
template <class Call>
void transfer(const Call& call, const RemoteProcess& process, const char* verb, std::uint64_t address,
              void* local, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t now = std::min(bytes - done, most_per_call);
        const iovec here{static_cast<std::byte*>(local) + done, now};
        const iovec there{reinterpret_cast<void*>(address + done),
                          now};  // NOLINT: an address in another process
        const ssize_t moved = call(process.id, &here, 1, &there, 1, 0);
        if (moved <= 0) {
            fail(process, verb);
        }
        done += static_cast<std::size_t>(moved);
    }
}

}  // namespace

void read_process(const RemoteProcess& from, std::uint64_t address, void* into, std::size_t bytes) {
    transfer(process_vm_readv, from, "read", address, into, bytes);
}

void write_process(const RemoteProcess& to, std::uint64_t address, const void* from, std::size_t bytes) {
    transfer(process_vm_writev, to, "write", address, const_cast<void*>(from), bytes);
}

bool process_holds(pid_t id, std::uint64_t address, std::uint64_t expected) {
    std::uint64_t found = ~expected;
    const iovec here{&found, sizeof(found)};
    const iovec there{reinterpret_cast<void*>(address),
                      sizeof(found)};  // NOLINT: an address in another process
    return process_vm_readv(id, &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof(found)) &&
           found == expected;
}

void permit_siblings() {
    // Fails where there is no Yama: then there is nothing to permit.
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()), 0ul, 0ul, 0ul);
}

}  // namespace mastic::comm::detail
