#include <mastic/colocation/session_directory.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <mastic/config/text.hpp>
#include <mastic/core/checksum.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::colocation {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto base_variable = "MASTIC_MPS_DIRECTORY";
constexpr std::size_t longest_socket_path = 107;  // sun_path less its end
constexpr auto longest_socket_name = "pipe/control_privileged";

fs::path base_of(const Environment& environment) {
    return environment(base_variable).value_or("/tmp");
}

std::string prefix() {
    return "mastic-mps-" + std::to_string(getuid()) + "-";
}

std::optional<std::string> text_of(const fs::path& file) {
    try {
        return read_text_file(file);
    } catch (const Error&) {
        return std::nullopt;
    }
}

// hydra tells its ranks nothing that names the job, but they all descend from one proxy on each node.
pid_t proxy_of(pid_t pid) {
    for (pid_t at = pid; at > 1; at = parent_of(at).value_or(0)) {
        if (program_name(at).starts_with("hydra_pmi_prox")) {
            return at;
        }
    }
    return parent_of(pid).value_or(pid);
}

std::string process_text(pid_t pid) {
    const auto process = find_process(pid);
    return "process " + std::to_string(pid) + " since " + std::to_string(process ? process->start : 0);
}

}  // namespace

std::string job_name(const job::JobContext& context, const Environment& environment) {
    switch (context.launcher) {
        case job::Launcher::slurm:
            return "step " + context.slurm_job_id + "." +
                   environment("SLURM_STEP_ID").value_or(environment("SLURM_STEPID").value_or("")) +
                   " of Slurm";
        case job::Launcher::hydra:
            return "mpiexec, " + process_text(proxy_of(getpid()));
        case job::Launcher::pmix:
            return "PMIx " + environment("PMIX_NAMESPACE").value_or("");
        case job::Launcher::none:
            break;
    }
    return process_text(getpid());
}

SessionDirectory SessionDirectory::of(const SessionKey& key, const Environment& environment) {
    const std::string text = key.host + "\n" + key.job + "\n" + config::join(key.devices, "\n");
    const std::string name = prefix() + to_hex(checksum(std::as_bytes(std::span(text))));
    const fs::path path = base_of(environment) / name;
    if ((path / longest_socket_name).string().size() > longest_socket_path) {
        throw Error(ExitCode::environment, path.string() + " is too long a path for the sockets of MPS",
                    std::string("name a shorter directory in ") + base_variable + ", or unset it");
    }
    return SessionDirectory(path);
}

std::vector<SessionDirectory> SessionDirectory::all(const Environment& environment) {
    std::vector<SessionDirectory> found;
    std::error_code error;
    for (auto entry = fs::directory_iterator(base_of(environment), error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        struct stat status {};
        const bool own = lstat(entry->path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                         status.st_uid == getuid();
        if (own && entry->path().filename().string().starts_with(prefix())) {
            found.emplace_back(entry->path());
        }
    }
    std::ranges::sort(found, {}, &SessionDirectory::path);
    return found;
}

void SessionDirectory::create() const {
    if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
        throw_file_error("make the directory", path_, errno);
    }
    exists();  // if it was just removed, the caller sees it when it takes the lock
}

bool SessionDirectory::exists() const {
    struct stat status {};
    if (lstat(path_.c_str(), &status) != 0) {
        return false;
    }
    // Anybody can make a directory in /tmp.
    if (!S_ISDIR(status.st_mode) || status.st_uid != getuid() || (status.st_mode & 077) != 0) {
        throw Error(ExitCode::environment, path_.string() + " is not a directory of this user's alone",
                    "remove it, or name another place in " + std::string(base_variable));
    }
    return true;
}

void SessionDirectory::remove() const {
    std::error_code ignored;
    std::vector<fs::path> content;
    for (auto entry = fs::directory_iterator(path_, ignored); !ignored && entry != fs::directory_iterator();
         entry.increment(ignored)) {
        content.push_back(entry->path());
    }
    // The lock last: who takes a new one finds nothing of the old session.
    std::ranges::stable_partition(content, [&](const fs::path& path) { return path != lock(); });
    for (const fs::path& path : content) {
        fs::remove_all(path, ignored);
    }
    fs::remove(path_, ignored);  // stays if a new rank is in it already
}

void SessionDirectory::write_key(const SessionKey& key) const {
    const json text = {{"host", key.host}, {"job", key.job}, {"devices", key.devices}};
    write_file_atomically(path_ / "session.json", text.dump() + "\n", 0600);
}

std::optional<SessionKey> SessionDirectory::read_key() const {
    const json text = json::parse(text_of(path_ / "session.json").value_or(""), nullptr, false);
    if (!text.is_object() || !text.contains("host") || !text.contains("job") || !text.contains("devices")) {
        return std::nullopt;
    }
    return SessionKey{text["host"], text["job"], text["devices"]};
}

void SessionDirectory::write_state(const SessionState& state) const {
    write_file_atomically(path_ / "state", state.ready ? "ready" : "failed " + state.problem, 0600);
}

std::optional<SessionState> SessionDirectory::read_state() const {
    const auto text = text_of(path_ / "state");
    if (!text) {
        return std::nullopt;
    }
    const std::string failed = "failed ";
    return text->starts_with(failed) ? SessionState{false, text->substr(failed.size())}
                                     : SessionState{true, ""};
}

void SessionDirectory::forget_state() const {
    std::error_code ignored;
    fs::remove(path_ / "state", ignored);
}

void SessionDirectory::add_member(const ProcessId& process) const {
    std::error_code ignored;
    fs::create_directory(path_ / "members", ignored);  // what follows tells it
    write_file_atomically(path_ / "members" / std::to_string(process.pid), std::to_string(process.start),
                          0600);
}

void SessionDirectory::remove_member(pid_t pid) const {
    std::error_code ignored;
    fs::remove(path_ / "members" / std::to_string(pid), ignored);
}

std::vector<ProcessId> SessionDirectory::living_members() const {
    std::vector<ProcessId> living;
    std::error_code error;
    for (auto entry = fs::directory_iterator(path_ / "members", error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename();
        ProcessId process;
        std::from_chars(name.data(), name.data() + name.size(), process.pid);
        const std::string start = text_of(entry->path()).value_or("");
        std::from_chars(start.data(), start.data() + start.size(), process.start);
        if (is_alive(process)) {
            living.push_back(process);
        }
    }
    return living;
}

}  // namespace mastic::colocation
