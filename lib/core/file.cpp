#include <mastic/core/file.hpp>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error_number) {
    return std::generic_category().message(error_number);
}

const char* hint_for(int error_number) {
    switch (error_number) {
        case ENOSPC:
        case EDQUOT:
            return "free space there, or choose a directory on another file system";
        case EROFS:
        case EACCES:
        case EPERM:
            return "choose a directory that you may write to, or change its permissions";
        case ENOENT:
        case ENOTDIR:
            return "check the path";
        default:
            return "";
    }
}

[[noreturn]] void fail_to_write(const fs::path& path, std::size_t needed, int error_number) {
    if (error_number != ENOSPC && error_number != EDQUOT) {
        throw_file_error("write", path, error_number);
    }
    throw Error(ExitCode::io,
                "cannot write " + path.string() + ": " + reason_of(error_number) + " (needed " +
                    human(Bytes{needed}) + ", free " + human(free_space(path)) + ")",
                hint_for(error_number));
}

Descriptor open_to_read(const fs::path& path) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        throw_file_error("read", path, errno);
    }
    return file;
}

// Reads to the end, whatever size the file was said to have (files of /proc say 0).
template <class Container>
Container read_all(const fs::path& path) {
    const Descriptor file = open_to_read(path);
    struct stat status {};
    if (fstat(file.get(), &status) != 0) {
        throw_file_error("read", path, errno);
    }
    Container content(static_cast<std::size_t>(status.st_size) + 1, typename Container::value_type{});
    std::size_t filled = 0;
    for (;;) {
        const ssize_t count = read(file.get(), content.data() + filled, content.size() - filled);
        if (count < 0 && errno != EINTR) {
            throw_file_error("read", path, errno);
        }
        if (count == 0) {
            break;
        }
        filled += count > 0 ? static_cast<std::size_t>(count) : 0;
        if (filled == content.size()) {
            content.resize(content.size() * 2 + 4096);
        }
    }
    content.resize(filled);
    return content;
}

// Returns 0 or errno.
int write_all(int descriptor, std::span<const std::byte> content) {
    while (!content.empty()) {
        const ssize_t count = write(descriptor, content.data(), content.size());
        if (count < 0 && errno != EINTR) {
            return errno;
        }
        content = content.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    return 0;
}

// Returns 0 or errno.
int write_durably(Descriptor& file, std::span<const std::byte> content, unsigned mode) {
    if (fchmod(file.get(), static_cast<mode_t>(mode)) != 0) {
        return errno;
    }
    if (const int error_number = write_all(file.get(), content)) {
        return error_number;
    }
    if (fsync(file.get()) != 0) {
        return errno;
    }
    return file.close();
}

fs::path temporary_name(const fs::path& path) {
    static std::atomic<unsigned> counter{0};
    return path.string() + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
}

fs::path directory_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace

void throw_file_error(const std::string& action, const fs::path& path, int error_number, const std::string& hint) {
    throw Error(ExitCode::io, "cannot " + action + " " + path.string() + ": " + reason_of(error_number),
                hint.empty() ? hint_for(error_number) : hint);
}

std::vector<std::byte> read_file(const fs::path& path) {
    return read_all<std::vector<std::byte>>(path);
}

std::string read_text_file(const fs::path& path) {
    return read_all<std::string>(path);
}

// A file of its own name would take the place of a device, or of the link itself.
fs::path real_target(const fs::path& path) {
    std::error_code none;
    const fs::path target = fs::is_symlink(path, none) ? fs::weakly_canonical(path, none) : path;
    if (fs::exists(target, none) && !fs::is_regular_file(target, none) && !fs::is_directory(target, none)) {
        throw Error(ExitCode::io, "cannot write " + path.string() + ": it is no regular file",
                    "name a file to be made or replaced");
    }
    return target;
}

void write_file_atomically(const fs::path& named, std::span<const std::byte> content, unsigned mode) {
    const fs::path path = real_target(named);
    const auto temporary = temporary_name(path);
    // Private until the content is there: `mode` may be wider, but must never have been.
    Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) {
        fail_to_write(path, content.size(), errno);
    }
    int error_number = write_durably(file, content, mode);
    if (error_number == 0 && rename(temporary.c_str(), path.c_str()) != 0) {
        error_number = errno;
    }
    if (error_number != 0) {
        // Closed first: an open file keeps its space.
        file.close();
        unlink(temporary.c_str());
        fail_to_write(path, content.size(), error_number);
    }
    sync_directory(directory_of(path));
}

void write_file_atomically(const fs::path& path, std::string_view content, unsigned mode) {
    write_file_atomically(path, std::as_bytes(std::span(content.data(), content.size())), mode);
}

// By making a file, since only the file system knows (read-only mounts, access lists).
void require_writable_place(const fs::path& named) {
    const fs::path path = real_target(named);
    if (std::error_code none; fs::is_directory(path, none)) {
        throw_file_error("write", named, EISDIR);
    }
    const auto temporary = temporary_name(path);
    const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid()) {
        throw_file_error("write", named, errno);
    }
    unlink(temporary.c_str());
}

void sync_directory(const fs::path& directory) {
    const Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some network file systems refuse to sync directories with EINVAL: their servers do it themselves.
    if (!opened.valid() || (fsync(opened.get()) != 0 && errno != EINVAL)) {
        throw_file_error("sync the directory", directory, errno);
    }
}

Bytes free_space(const fs::path& path) {
    std::error_code ignored;
    fs::path existing = fs::absolute(path, ignored);
    while (!fs::exists(existing, ignored) && existing.has_relative_path()) {
        existing = existing.parent_path();
    }
    struct statvfs status {};
    if (statvfs(existing.c_str(), &status) != 0) {
        throw_file_error("ask for the free space of", existing, errno);
    }
    return {std::uint64_t{status.f_bavail} * status.f_frsize};
}

LineWriter::LineWriter(const fs::path& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
    if (!descriptor_.valid()) {
        throw_file_error("write", path_, errno);
    }
    const off_t size = lseek(descriptor_.get(), 0, SEEK_END);
    char last = '\n';
    if (size > 0 && pread(descriptor_.get(), &last, 1, size - 1) == 1 && last != '\n') {
        write_line("");
    }
}

void LineWriter::write_line(std::string_view line) {
    struct stat status {};
    if (fstat(descriptor_.get(), &status) == 0 && status.st_nlink == 0) {
        throw Error(ExitCode::io, path_.string() + " was removed while it was being written",
                    "what is written from now on would be lost: look who has deleted it, then start again");
    }
    const std::string content = std::string(line) + '\n';
    const int error_number =
        write_all(descriptor_.get(), std::as_bytes(std::span(content.data(), content.size())));
    if (error_number != 0) {
        // A failure to cut off the incomplete line leaves what the reader must bear after a crash anyway.
        [[maybe_unused]] const int cut = ftruncate(descriptor_.get(), status.st_size);
        fail_to_write(path_, content.size(), error_number);
    }
}

}  // namespace mastic
