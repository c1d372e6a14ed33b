#include <mastic/colocation/process.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;

// The beginning that nvidia-cuda-mps-control and nvidia-cuda-mps-server have in common, all that the kernel keeps of them.
constexpr auto mps_program = "nvidia-cuda-mps";

fs::path directory_of(pid_t pid) {
    return fs::path("/proc") / std::to_string(pid);
}

// Nothing of a process that ends while it is read, or of another user's.
std::string content_of(const fs::path& path) {
    try {
        return read_text_file(path);
    } catch (const Error&) {
        return "";
    }
}

// Of /proc/PID/stat, from the state on. The name before it, in brackets, may hold anything.
std::vector<std::string> status_fields(pid_t pid) {
    const std::string stat = content_of(directory_of(pid) / "stat");
    const auto end = stat.rfind(')');
    if (end == stat.npos) {
        return {};
    }
    std::istringstream rest(stat.substr(end + 1));
    return {std::istream_iterator<std::string>(rest), {}};
}

void for_each_mps_process(const std::function<void(pid_t)>& action) {
    std::error_code error;
    for (auto entry = fs::directory_iterator("/proc", error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        pid_t pid = 0;
        const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (problem == std::errc() && stop == name.data() + name.size() && is_mps_process(pid)) {
            action(pid);
        }
    }
}

}  // namespace

std::optional<ProcessId> find_process(pid_t pid) {
    const std::vector<std::string> fields = status_fields(pid);
    constexpr std::size_t start_field = 19;
    if (fields.size() <= start_field || fields[0] == "Z" || fields[0] == "X") {
        return std::nullopt;
    }
    return ProcessId{pid, std::stoull(fields[start_field])};
}

std::optional<pid_t> parent_of(pid_t pid) {
    const std::vector<std::string> fields = status_fields(pid);
    return fields.size() > 1 ? std::optional(static_cast<pid_t>(std::stol(fields[1]))) : std::nullopt;
}

bool is_alive(const ProcessId& process) {
    return find_process(process.pid) == process;
}

std::string program_name(pid_t pid) {
    std::string name = content_of(directory_of(pid) / "comm");
    if (name.ends_with('\n')) {
        name.pop_back();
    }
    return name;
}

std::optional<uid_t> owner_of(pid_t pid) {
    struct stat status {};
    return stat(directory_of(pid).c_str(), &status) == 0 ? std::optional(status.st_uid) : std::nullopt;
}

bool is_mps_process(pid_t pid) {
    return program_name(pid) == mps_program;
}

bool uses_pipe(pid_t pid, const fs::path& pipe) {
    const std::string wanted = "CUDA_MPS_PIPE_DIRECTORY=" + pipe.string() + '\0';
    const std::string environment = '\0' + content_of(directory_of(pid) / "environ");
    return environment.find('\0' + wanted) != environment.npos;
}

std::vector<ProcessId> mps_processes(const fs::path& pipe) {
    std::vector<ProcessId> found;
    for_each_mps_process([&](pid_t pid) {
        const auto process = find_process(pid);
        if (process && uses_pipe(pid, pipe)) {
            found.push_back(*process);
        }
    });
    return found;
}

std::vector<ForeignProcess> foreign_mps_servers() {
    std::vector<ForeignProcess> found;
    for_each_mps_process([&](pid_t pid) {
        const auto owner = owner_of(pid);
        if (owner && *owner != getuid() && owner != 0) {
            found.push_back({pid, *owner});
        }
    });
    return found;
}

}  // namespace mastic::colocation
