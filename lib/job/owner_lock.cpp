#include <mastic/job/owner_lock.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::job {
namespace {

namespace fs = std::filesystem;

void write_owner(const fs::path& path, const Owner& owner) {
    const nlohmann::json content = {
        {"host", owner.host}, {"pid", owner.pid}, {"job_id", owner.job_id}, {"since", owner.since}};
    write_file_atomically(path, content.dump(2) + "\n");
}

// Between the other's lock and its owner file, or if that file is damaged, the owner is not known.
std::optional<Owner> read_owner(const fs::path& path) {
    try {
        const auto content = nlohmann::json::parse(read_text_file(path));
        return Owner{content.at("host"), content.at("pid"), content.at("job_id"), content.at("since")};
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

[[noreturn]] void refuse(const OwnedPlace& place) {
    const auto owner = read_owner(place.owner_file);
    const std::string end_it =
        owner && !owner->job_id.empty() ? ", end it with `scancel " + owner->job_id + "`," : "";
    throw Error(ExitCode::io, place.name + " is in use by " + (owner ? describe(*owner) : "another process"),
                "wait until it has ended" + end_it + " or " + place.otherwise);
}

}  // namespace

Owner this_process(const std::string& host, const std::string& job_id) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts = {};
    localtime_r(&now, &parts);
    std::array<char, 32> since = {};
    std::strftime(since.data(), since.size(), "%Y-%m-%dT%H:%M:%S%z", &parts);
    return {host, getpid(), job_id, since.data()};
}

// Close on exec: a program started by this one must not hold the lock after our end.
OwnerLock::OwnerLock(const OwnedPlace& place, const Owner& owner)
    : descriptor_(open(place.lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (!descriptor_.valid()) {
        throw_file_error("open", place.lock_file, errno);
    }
    if (flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            refuse(place);
        }
        throw_file_error("lock", place.lock_file, errno,
             "the file system must support flock (Lustre: mount option `flock`)");
    }
    write_owner(place.owner_file, owner);
    owner_file_ = place.owner_file;
}

OwnerLock::~OwnerLock() {
    if (descriptor_.valid()) {
        unlink(owner_file_.c_str());
    }
}

std::optional<Owner> current_owner(const OwnedPlace& place) {
    const Descriptor descriptor(open(place.lock_file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.valid() || flock(descriptor.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        return std::nullopt;
    }
    return read_owner(place.owner_file).value_or(Owner{"an unknown node", 0, "", ""});
}

std::string describe(const Owner& owner) {
    const auto process =
        "pid " + std::to_string(owner.pid) + " on node " + owner.host + " since " + owner.since;
    return owner.job_id.empty() ? process : "job " + owner.job_id + " (" + process + ")";
}

}  // namespace mastic::job
