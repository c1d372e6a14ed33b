#include <mastic/data/file_content.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>
#include <mastic/data/content_kind.hpp>
#include <mastic/data/gzip_reader.hpp>

namespace mastic::data {

namespace {

constexpr std::uint64_t first_growth = 1 << 16;

[[noreturn]] void throw_unreadable(const std::filesystem::path& path, int reason) {
    throw Error(ExitCode::data, path.string() + ": cannot be read: " + std::strerror(reason),
                reason == ENOENT ? "check the path; a relative one starts at the working directory"
                                 : "check the permissions and the file system");
}

std::size_t size_of_regular_file(const Descriptor& file, const std::filesystem::path& path) {
    struct stat status {};
    if (fstat(file.get(), &status) != 0) {
        throw_unreadable(path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        throw Error(ExitCode::data, path.string() + ": is not a regular file",
                    "name a data file, not a directory or pipe");
    }
    return static_cast<std::size_t>(status.st_size);
}

std::vector<std::byte> decompress(std::span<const std::byte> compressed, const std::filesystem::path& path,
                                  std::uint64_t limit) {
    GzipReader reader(compressed, path.string());
    std::vector<std::byte> bytes;
    for (;;) {
        const std::size_t filled = bytes.size();
        bytes.resize(std::min<std::uint64_t>(limit, std::max<std::uint64_t>(first_growth, 2 * filled)));
        const auto count = reader.read(std::span(bytes).subspan(filled));
        if (filled + count < bytes.size() || bytes.size() == limit) {
            bytes.resize(filled + count);
            return bytes;
        }
    }
}

}  // namespace

FileContent map_file(const std::filesystem::path& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid()) {
        throw_unreadable(path, errno);
    }
    const auto size = size_of_regular_file(file, path);
    if (size == 0) {
        return {};
    }
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) {
        throw_unreadable(path, errno);
    }
    std::shared_ptr<const void> owner(
        memory, [size](const void* mapped) { munmap(const_cast<void*>(mapped), size); });
    return {{static_cast<const std::byte*>(memory), size}, std::move(owner)};
}

FileContent read_content(const std::filesystem::path& path, std::uint64_t limit) {
    auto stored = map_file(path);
    if (kind_of(stored.bytes) != ContentKind::gzip) {
        return stored;
    }
    auto bytes = std::make_shared<const std::vector<std::byte>>(decompress(stored.bytes, path, limit));
    return {std::span(*bytes), bytes};
}

std::vector<std::byte> read_prefix(const std::filesystem::path& path, std::size_t count) {
    const auto stored = map_file(path);
    if (kind_of(stored.bytes) == ContentKind::gzip) {
        return decompress(stored.bytes, path, count);
    }
    const auto prefix = stored.bytes.first(std::min(count, stored.bytes.size()));
    return {prefix.begin(), prefix.end()};
}

}  // namespace mastic::data
