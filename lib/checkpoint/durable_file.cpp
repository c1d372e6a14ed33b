#include <mastic/checkpoint/durable_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <mastic/core/checksum.hpp>
#include <mastic/core/descriptor.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::checkpoint {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{8} << 20;

[[noreturn]] void fail(const std::filesystem::path& path, const char* action, std::size_t needed,
                       int reason) {
    std::string message =
        std::string("cannot ") + action + " " + path.string() + ": " + std::strerror(reason);
    std::string hint;
    if (reason == ENOSPC || reason == EDQUOT) {
        message +=
            " (needs " + human(Bytes{needed}) + ", " + human(free_space(path.parent_path())) + " free)";
        hint = "free space, or keep fewer checkpoints";
    } else if (reason == EROFS || reason == EACCES) {
        hint = "choose a run directory that you may write to";
    }
    throw Error(ExitCode::io, message, hint);
}

// A file under its temporary name; removed again unless renamed.
class TemporaryFile {
  public:
    TemporaryFile(const std::filesystem::path& target, std::size_t needed)
        : target_(target), temporary_(target.string() + ".tmp"), needed_(needed) {
        constexpr mode_t mode = 0644;
        file_ = Descriptor(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
        if (!file_.valid()) {
            fail(temporary_, "create", needed_, errno);
        }
    }
    ~TemporaryFile() {
        if (!renamed_) {
            unlink(temporary_.c_str());
        }
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void append(std::span<const std::byte> bytes) {
        const auto begin = position_;
        while (!bytes.empty()) {
            const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) {
                fail(temporary_, "write", needed_, errno);
            }
            bytes = bytes.subspan(written > 0 ? static_cast<std::size_t>(written) : 0);
            position_ += written > 0 ? written : 0;
        }
        // Starts the writeback of this chunk, so that the sync at the end has little left; only a hint.
        sync_file_range(file_.get(), begin, position_ - begin, SYNC_FILE_RANGE_WRITE);
    }
    void sync() {
        if (fdatasync(file_.get()) != 0) {
            fail(temporary_, "sync", needed_, errno);
        }
        if (const int reason = file_.close()) {
            fail(temporary_, "close", needed_, reason);
        }
    }
    void rename_to_target() {
        if (rename(temporary_.c_str(), target_.c_str()) != 0) {
            fail(target_, "rename to", needed_, errno);
        }
        renamed_ = true;
    }

  private:
    std::filesystem::path target_;
    std::filesystem::path temporary_;
    std::size_t needed_;
    Descriptor file_;
    off64_t position_ = 0;
    bool renamed_ = false;
};

}  // namespace

std::uint64_t write_durably(const std::filesystem::path& path, std::span<const std::byte> bytes,
                            const FaultPoint& fault_point) {
    const auto pass = [&](const char* point) {
        if (fault_point) {
            fault_point(point);
        }
    };
    TemporaryFile file(path, bytes.size());
    pass("file-created");
    RunningChecksum running;
    for (std::size_t begin = 0; begin < bytes.size(); begin += chunk_bytes) {
        const auto chunk = bytes.subspan(begin, std::min(chunk_bytes, bytes.size() - begin));
        running.update(chunk);
        file.append(chunk);
        pass("chunk-written");
    }
    file.sync();
    pass("file-synced");
    file.rename_to_target();
    pass("file-renamed");
    return running.value();
}

}  // namespace mastic::checkpoint
