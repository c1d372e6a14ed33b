#include <mastic/colocation/file_lock.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <mastic/core/file.hpp>

namespace mastic::colocation {
namespace {

int retried_flock(int descriptor, int operation) {
    int result = 0;
    do {
        result = flock(descriptor, operation);
    } while (result != 0 && errno == EINTR);
    return result;
}

}  // namespace

std::optional<FileLock> FileLock::try_take(const std::filesystem::path& path, Mode mode) {
    Descriptor descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!descriptor.valid()) {
        if (errno == ENOENT) {
            return std::nullopt;
        }
        throw_file_error("lock", path, errno);
    }
    if (retried_flock(descriptor.get(), (mode == Mode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return std::nullopt;
        }
        throw_file_error("lock", path, errno);
    }
    FileLock lock(path, std::move(descriptor));
    return lock.still_named() ? std::optional(std::move(lock)) : std::nullopt;
}

bool FileLock::wait_exclusive() {
    if (retried_flock(descriptor_.get(), LOCK_EX) != 0) {
        throw_file_error("lock", path_, errno);
    }
    return still_named();
}

void FileLock::keep_across_exec() const {
    fcntl(descriptor_.get(), F_SETFD, 0);
}

bool FileLock::still_named() const {
    struct stat named {};
    struct stat opened {};
    return stat(path_.c_str(), &named) == 0 && fstat(descriptor_.get(), &opened) == 0 &&
           named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

}  // namespace mastic::colocation
