#include <mastic/schedule/manager/state_directory.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 40;
constexpr const char* draft_prefix = ".draft-";

fs::path normal(const fs::path& path) {
    const fs::path result = fs::absolute(path).lexically_normal();
    return result.has_filename() ? result : result.parent_path();  // "state/" has an empty file name
}

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
    throw_file_error(what, path, error, "name a state directory that you can write to");
}

void make_private(const fs::path& path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        fail("make the directory", path, errno);
    }
}

// Who may write here may have any command run as this user.
void refuse_writable_by_others(const fs::path& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        fail("look at", path, errno);
    }
    if (status.st_uid != geteuid()) {
        throw Error(ExitCode::io, path.string() + " belongs to another user, who could start jobs in your name",
                    "name a directory of your own");
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        throw Error(ExitCode::io, "others may write to " + path.string() + ", and so start jobs in your name",
                    "chmod go-w " + path.string());
    }
}

std::string random_id() {
    std::random_device device;
    char text[9];
    std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(device()));
    return text;
}

// Two processes may found a directory at once: a link is made by one of them only.
void found(const fs::path& directory) {
    const fs::path file = directory / "state.json";
    const fs::path draft = directory / ("state-" + random_id() + ".json");
    write_file_atomically(draft, text_of({{"id", random_id()}}), 0600);
    const int linked = link(draft.c_str(), file.c_str());
    const int error = errno;
    unlink(draft.c_str());
    if (linked != 0 && error != EEXIST) {
        fail("make", file, error);
    }
    sync_directory(directory);
}

bool is_draft(const fs::path& path) {
    return path.filename().string().starts_with("state-");
}

std::string read_id(const fs::path& file) {
    std::string id;
    parse_state(read_text_file(file), file.string(),
                [&id](const Json& content) { content.at("id").get_to(id); },
                "it is {\"id\": ID, \"format\": 1}: squeue shows the ID of pilots that run, as mastic-TRAINING@ID");
    return id;
}

// For paths, names of jobs and comments of Slurm.
std::string slug(const std::string& name) {
    std::string text;
    for (const char letter : name.substr(0, longest_name)) {
        const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
                           letter == '.' || letter == '-';
        text += plain ? letter : '-';
    }
    text.erase(0, std::min(text.find_first_not_of(".-"), text.size()));
    return text.empty() ? "training" : text;
}

// Slurm reads % and \ of the path of a log as signs of a pattern, and each directive of a script ends with its line.
void refuse_what_slurm_misreads(const fs::path& path) {
    const std::string text = path.string();
    if (std::ranges::any_of(text, [](unsigned char c) { return c == '%' || c == '\\' || std::iscntrl(c) != 0; })) {
        throw Error(ExitCode::usage, "Slurm cannot write the pilots' logs in " + text + ": its path has a %, a \\ or a control character",
                    "name another state directory");
    }
}

// A directory that becomes a training by being renamed; gone with its owner if that does not happen.
class Draft {
  public:
    // It delegates, so that a file that cannot be written ends a Draft that exists already.
    Draft(const fs::path& trainings, const TrainingOrder& order)
        : Draft(slug(order.name), trainings / (draft_prefix + random_id())) {
        write_file_atomically(path_ / "order.json", to_json(order), 0600);
        TrainingRecord record;
        record.since_s = order.submitted_s;
        write_file_atomically(path_ / "record.json", to_json(record), 0600);
    }
    Draft(Draft&& other) noexcept : name_(std::move(other.name_)), path_(std::exchange(other.path_, {})) {}
    Draft& operator=(Draft&&) = delete;
    ~Draft() {
        std::error_code ignored;
        if (!path_.empty()) {
            fs::remove_all(path_, ignored);
        }
    }

    // The first free id that is no name of a sweep either; a directory with something in it cannot be renamed over.
    std::string publish(const std::set<std::string>& sweeps) {
        const fs::path trainings = path_.parent_path();
        for (int number = 1;; ++number) {
            const std::string id = number == 1 ? name_ : name_ + "-" + std::to_string(number);
            if (sweeps.contains(id)) {
                continue;
            }
            if (rename(path_.c_str(), (trainings / id).c_str()) == 0) {
                path_.clear();
                return id;
            }
            if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
                fail("make", trainings / id, errno);
            }
        }
    }

  private:
    Draft(std::string name, fs::path path) : name_(std::move(name)), path_(std::move(path)) {
        make_private(path_);
    }

    std::string name_;
    fs::path path_;
};

bool lacks_a_file(const fs::path& training) {
    const auto is_gone = [&training](const char* file) {
        std::error_code error;
        return fs::status(training / file, error).type() == fs::file_type::not_found;
    };
    return is_gone("order.json") || is_gone("record.json");
}

}  // namespace

StateDirectory::StateDirectory(fs::path path) : path_(std::move(path)), id_(read_id(path_ / "state.json")) {
    refuse_writable_by_others(path_);
}

StateDirectory StateDirectory::create_or_open(const fs::path& path) {
    const fs::path directory = normal(path);
    refuse_what_slurm_misreads(directory);
    std::error_code none;
    if (!fs::is_directory(directory, none)) {
        if (fs::create_directories(directory.parent_path(), none); none) {
            fail("make the directory", directory.parent_path(), none.value());
        }
        make_private(directory);
    }
    if (!fs::exists(directory / "state.json")) {
        refuse_writable_by_others(directory);
        const bool has_others = !std::ranges::all_of(fs::directory_iterator(directory), is_draft);
        if (has_others && !fs::exists(directory / "state.json")) {  // unless it has been founded meanwhile
            throw Error(ExitCode::usage,
                        directory.string() + " is no state directory: other things are in it",
                        "name a directory that is empty or does not exist");
        }
        found(directory);
    }
    for (const char* folder : {"trainings", "inbox", "answers", "pilots"}) {
        make_private(directory / folder);
    }
    return StateDirectory(directory);
}

StateDirectory StateDirectory::open(const fs::path& path) {
    const fs::path directory = normal(path);
    if (!fs::exists(directory / "state.json")) {
        throw Error(ExitCode::usage, directory.string() + " is no state directory",
                    "`mastic-rescale submit` or `serve` makes it");
    }
    return StateDirectory(directory);
}

void StateDirectory::check() const {
    if (read_id(path_ / "state.json") != id_) {
        throw Error(ExitCode::io, path_.string() + " is not the state directory that it was");
    }
    (void)fs::directory_iterator(path_ / "trainings");
}

job::OwnedPlace StateDirectory::place() const {
    return {"the state directory " + path_.string(), "name another state directory", path_ / "lock",
            path_ / "manager.json"};
}

job::OwnerLock StateDirectory::lock(const job::Owner& owner) const {
    return job::OwnerLock(place(), owner);
}

std::optional<job::Owner> StateDirectory::manager() const {
    return job::current_owner(place());
}

std::vector<std::string> StateDirectory::publish(const std::vector<TrainingOrder>& orders) const {
    std::vector<Draft> drafts;
    for (const TrainingOrder& order : orders) {
        drafts.emplace_back(path_ / "trainings", order);
    }
    std::set<std::string> sweeps;
    for (const Training& one : trainings()) {
        sweeps.insert(one.order.sweep);
    }
    std::vector<std::string> ids;
    for (Draft& draft : drafts) {  // renaming needs no more room
        ids.push_back(draft.publish(sweeps));
    }
    sync_directory(path_ / "trainings");
    return ids;
}

std::vector<Training> StateDirectory::trainings() const {
    std::vector<Training> all;
    for (const auto& entry : fs::directory_iterator(path_ / "trainings")) {
        const std::string id = entry.path().filename().string();
        if (!id.starts_with('.')) {
            all.push_back(load(id));
        }
    }
    std::ranges::sort(all, {}, [](const Training& one) { return std::pair(one.order.submitted_s, one.id); });
    return all;
}

void StateDirectory::forget_drafts() const {
    constexpr std::chrono::hours longer_than_any_submission{1};
    const auto before = fs::file_time_type::clock::now() - longer_than_any_submission;
    for (const auto& entry : fs::directory_iterator(path_ / "trainings")) {
        std::error_code ignored;
        if (entry.path().filename().string().starts_with(draft_prefix) && entry.last_write_time(ignored) < before) {
            fs::remove_all(entry.path(), ignored);
        }
    }
}

std::vector<std::string> StateDirectory::training_ids() const {
    std::vector<std::string> ids;
    for (const Training& one : trainings()) {
        ids.push_back(one.id);
    }
    return ids;
}

Training StateDirectory::load(const std::string& id) const {
    Training found;
    found.id = id;
    try {
        const fs::path order = training(id) / "order.json";
        const fs::path record = training(id) / "record.json";
        found.order = parse_training_order(read_text_file(order), order.string());
        found.record = parse_training_record(read_text_file(record), record.string());
    } catch (const Error& error) {
        found.problem = error.what();
        found.unread = error.code() == ExitCode::io && !lacks_a_file(training(id));
    }
    return found;
}

Training StateDirectory::require(const std::string& id) const {
    const std::vector<std::string> ids = training_ids();
    if (std::ranges::find(ids, id) == ids.end()) {
        if (ids.empty()) {
            throw Error(ExitCode::usage, "there is no training in " + path_.string(),
                        "`mastic-rescale submit` adds one");
        }
        throw_unknown_name("training", id, ids);
    }
    Training found = load(id);
    if (!found.problem.empty()) {
        throw Error(ExitCode::data, found.problem);
    }
    return found;
}

void StateDirectory::write_order(const std::string& id, const TrainingOrder& order) const {
    write_file_atomically(training(id) / "order.json", to_json(order), 0600);
}

void StateDirectory::write_record(const std::string& id, const TrainingRecord& record) const {
    write_file_atomically(training(id) / "record.json", to_json(record), 0600);
}

std::optional<RoundRecord> StateDirectory::round() const {
    const fs::path file = path_ / "round.json";
    return fs::exists(file) ? std::optional(parse_round_record(read_text_file(file), file.string()))
                            : std::nullopt;
}

void StateDirectory::write_round(const RoundRecord& record) const {
    write_file_atomically(path_ / "round.json", to_json(record), 0600);
}

DrainedNodes StateDirectory::drained() const {
    const fs::path file = path_ / "drained.json";
    DrainedNodes drained;
    if (fs::exists(file)) {
        parse_state(read_text_file(file), file.string(), [&drained](const Json& content) {
            content.at("all").get_to(drained.all);
            content.at("nodes").get_to(drained.nodes);
        }, "move it away, and drain the nodes again");
    }
    return drained;
}

void StateDirectory::write_drained(const DrainedNodes& drained) const {
    write_file_atomically(path_ / "drained.json", text_of({{"all", drained.all}, {"nodes", drained.nodes}}),
                          0600);
}

}  // namespace mastic::schedule
