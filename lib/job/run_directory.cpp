#include <mastic/job/run_directory.hpp>

#include <array>
#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::job {
namespace {

namespace fs = std::filesystem;

bool directory_at(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

void make_directory(const fs::path& path) {
    if (path.empty() || directory_at(path)) {
        return;
    }
    make_directory(path.parent_path());
    if (mkdir(path.c_str(), 0755) == 0) {
        return;
    }
    const int error = errno;
    // Several ranks may make the same directory at once.
    if (error != EEXIST || !directory_at(path)) {
        throw_file_error("make the directory", path, error,
             error == EEXIST || error == ENOTDIR
                 ? "a file lies there: name another run directory"
                 : "name a run directory on a file system that you can write to");
    }
}

}  // namespace

RunDirectory RunDirectory::create_or_open(const fs::path& path) {
    auto normal = fs::absolute(path).lexically_normal();
    // "run/" has an empty file name.
    RunDirectory directory(normal.has_filename() ? normal : normal.parent_path());
    make_directory(directory.path());
    for (const auto& folder : {directory.logs(), directory.traces(), directory.ranks(), directory.checkpoints()}) {
        make_directory(folder);
    }
    return directory;
}

OwnedPlace RunDirectory::place() const {
    return {"the run directory " + path().string(), "name another run directory", lock_file(), owner_file()};
}

RunLock RunDirectory::lock(const RunOwner& owner) const { return OwnerLock(place(), owner); }

std::optional<RunOwner> RunDirectory::current_owner() const { return job::current_owner(place()); }

fs::path RunDirectory::log_file(int rank) const {
    return logs() / ("rank-" + std::to_string(rank) + ".log");
}

fs::path RunDirectory::trace_file(int rank) const {
    return traces() / ("rank-" + std::to_string(rank) + ".json");
}

void RunDirectory::clear_ranks() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(ranks(), ignored)) {
        fs::remove(entry.path(), ignored);
    }
}

fs::path RunDirectory::last_moment_file(int rank) const {
    return ranks() / ("rank-" + std::to_string(rank) + ".last");
}

fs::path RunDirectory::crash_file(int rank) const {
    return ranks() / ("rank-" + std::to_string(rank) + ".crash");
}

void check_space(const fs::path& path, Bytes needed, const std::string& what) {
    const Bytes available = free_space(path);
    if (available < needed) {
        throw Error(ExitCode::io,
                    "no room for " + what + " in " + path.string() + ": " + human(needed) + ", of which " + human(available) +
                        " are free",
                    "free some space, or put the run directory on a larger file system");
    }
}

void check_writable(const fs::path& directory) {
    const auto probe = directory / (".probe-" + std::to_string(getpid()));
    const auto give_up = [&](const char* what) {
        const int error = errno;
        unlink(probe.c_str());
        throw_file_error(what, directory, error, "name a run directory that you can write to");
    };
    Descriptor descriptor(open(probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!descriptor.valid()) {
        give_up("make a file in");
    }
    const std::array<char, 4096> block = {};
    if (write(descriptor.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size()) ||
        fsync(descriptor.get()) != 0) {
        give_up("write to a file in");
    }
    unlink(probe.c_str());
}

}  // namespace mastic::job
