#include "support/tmpfs_mount.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <sys/mount.h>

namespace mastic::test {
namespace {

std::string reason_of(int error_number) {
    return std::generic_category().message(error_number);
}

}  // namespace

TmpfsMount::TmpfsMount(Bytes size) {
    const std::string options = "size=" + std::to_string(size.count);
    if (mount("tmpfs", path().c_str(), "tmpfs", 0, options.c_str()) != 0) {
        reason_ = "cannot mount a tmpfs: " + reason_of(errno);
    }
}

TmpfsMount::~TmpfsMount() {
    if (mounted()) {
        umount2(path().c_str(), MNT_DETACH);
    }
}

void TmpfsMount::make_read_only() {
    if (mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
        throw std::runtime_error("cannot make " + path().string() + " read-only: " + reason_of(errno));
    }
}

}  // namespace mastic::test
