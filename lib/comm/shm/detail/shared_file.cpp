#include <mastic/comm/shm/detail/shared_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic::comm::detail {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& hint) {
    const std::string reason = std::generic_category().message(errno);
    throw Error(ExitCode::environment, "cannot " + what + " shared memory " + path + ": " + reason, hint);
}

std::string random_name() {
    std::array<std::uint64_t, 2> random{};
    if (getrandom(random.data(), sizeof(random), 0) != static_cast<ssize_t>(sizeof(random))) {
        throw Error(ExitCode::environment, "the system gives no random numbers");
    }
    std::array<char, 48> name{};
    std::snprintf(name.data(), name.size(), "mastic-%016llx%016llx",
                  static_cast<unsigned long long>(random[0]), static_cast<unsigned long long>(random[1]));
    return name.data();
}

}  // namespace

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

SharedFile SharedFile::create(const std::string& directory, std::size_t bytes) {
    const std::string path = directory + "/" + random_name();
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!descriptor.valid()) {
        fail("create", path, "this directory must exist and be writable");
    }
    const int resized = ftruncate(descriptor.get(), static_cast<off_t>(bytes));
    const int error_number = errno;
    SharedFile file(path, std::move(descriptor), bytes, true);
    if (resized != 0) {
        errno = error_number;
        fail("size", path, "a limit on file sizes (ulimit -f) may be too small");
    }
    return file;
}

SharedFile SharedFile::open(const std::string& path, std::size_t bytes) {
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!descriptor.valid()) {
        fail("open", path, "all ranks of a node must see the same directory: start them in one container");
    }
    struct stat status {};
    if (fstat(descriptor.get(), &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes) {
        throw Error(ExitCode::environment, "shared memory " + path + " is not what its rank made");
    }
    return SharedFile(path, std::move(descriptor), bytes, false);
}

SharedFile::SharedFile(std::string path, Descriptor descriptor, std::size_t bytes, bool named_here)
    : path_(std::move(path)), descriptor_(std::move(descriptor)), bytes_(bytes), named_here_(named_here) {
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    if (mapped == MAP_FAILED) {
        const int error_number = errno;
        unlink();
        errno = error_number;
        fail("map", path_, "a limit on address space (ulimit -v) may be too small");
    }
    data_ = static_cast<std::byte*>(mapped);
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::move(other.descriptor_)),
      bytes_(other.bytes_),
      named_here_(std::exchange(other.named_here_, false)),
      data_(std::exchange(other.data_, nullptr)) {}

SharedFile::~SharedFile() {
    unlink();
    if (data_ != nullptr) {
        munmap(data_, bytes_);
    }
}

void SharedFile::unlink() {
    if (std::exchange(named_here_, false)) {
        ::unlink(path_.c_str());
    }
}

// In portions, since a signal undoes a portion: a long one might never end in a program with a timer.
bool SharedFile::reserve(std::size_t offset, std::size_t bytes) {
    constexpr std::size_t portion = std::size_t(64) << 20;
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t now = std::min(portion, bytes - done);
        if (fallocate(descriptor_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset + done),
                      static_cast<off_t>(now)) == 0) {
            done += now;
        } else if (errno != EINTR) {
            release(offset, done);
            return false;
        }
    }
    return true;
}

void SharedFile::release(std::size_t offset, std::size_t bytes) {
    while (bytes > 0 &&
           fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0 &&
           errno == EINTR) {
    }
}

}  // namespace mastic::comm::detail
