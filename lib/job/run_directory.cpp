#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::job {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error,
                       const std::string& hint = "") {
    throw Error(ExitCode::io, "cannot " + what + " " + path.string() + ": " + std::strerror(error), hint);
}

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
        fail("make the directory", path, error,
             error == EEXIST || error == ENOTDIR
                 ? "a file lies there: name another run directory"
                 : "name a run directory on a file system that you can write to");
    }
}

std::string describe(const RunOwner& owner) {
    const auto process =
        "pid " + std::to_string(owner.pid) + " on node " + owner.host + " since " + owner.since;
    return owner.job_id.empty() ? process : "job " + owner.job_id + " (" + process + ")";
}

void write_owner(const fs::path& path, const RunOwner& owner) {
    const nlohmann::json content = {
        {"host", owner.host}, {"pid", owner.pid}, {"job_id", owner.job_id}, {"since", owner.since}};
    write_file_atomically(path, content.dump(2) + "\n");
}

// Between the other's lock and its owner file, or if that file is damaged, the owner is not known.
std::optional<RunOwner> read_owner(const fs::path& path) {
    try {
        const auto content = nlohmann::json::parse(read_text_file(path));
        return RunOwner{content.at("host"), content.at("pid"), content.at("job_id"), content.at("since")};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

[[noreturn]] void refuse(const RunDirectory& directory) {
    const auto owner = read_owner(directory.owner_file());
    const std::string end_it =
        owner && !owner->job_id.empty() ? ", end it with `scancel " + owner->job_id + "`," : "";
    throw Error(ExitCode::io,
                "the run directory " + directory.path().string() + " is in use by " +
                    (owner ? describe(*owner) : "another process"),
                "wait until it has ended" + end_it + " or name another run directory");
}

}  // namespace

RunOwner this_process(const std::string& host, const std::string& job_id) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts = {};
    localtime_r(&now, &parts);
    std::array<char, 32> since = {};
    std::strftime(since.data(), since.size(), "%Y-%m-%dT%H:%M:%S%z", &parts);
    return {host, getpid(), job_id, since.data()};
}

RunLock::RunLock(Descriptor descriptor, fs::path owner_file)
    : descriptor_(std::move(descriptor)), owner_file_(std::move(owner_file)) {}

RunLock::~RunLock() {
    if (descriptor_.valid()) {
        unlink(owner_file_.c_str());
    }
}

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

RunLock RunDirectory::lock(const RunOwner& owner) const {
    // Close on exec: a program started by this one must not hold the lock after our end.
    Descriptor descriptor(open(lock_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!descriptor.valid()) {
        fail("open", lock_file(), errno);
    }
    if (flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            refuse(*this);
        }
        fail("lock", lock_file(), errno, "the file system must support flock (Lustre: mount option `flock`)");
    }
    RunLock held(std::move(descriptor), owner_file());
    write_owner(owner_file(), owner);
    return held;
}

std::optional<RunOwner> RunDirectory::current_owner() const {
    const Descriptor descriptor(open(lock_file().c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.valid() || flock(descriptor.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        return std::nullopt;
    }
    return read_owner(owner_file()).value_or(RunOwner{"an unknown node", 0, "", ""});
}

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
                    what + " need " + human(needed) + " in " + path.string() + ", but only " +
                        human(available) + " are free there",
                    "free some space, or put the run directory on a larger file system");
    }
}

void check_writable(const fs::path& directory) {
    const auto probe = directory / (".probe-" + std::to_string(getpid()));
    const auto give_up = [&](const char* what) {
        const int error = errno;
        unlink(probe.c_str());
        fail(what, directory, error, "name a run directory that you can write to");
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
