// The writing half of CheckpointStore.
#include <algorithm>
#include <ctime>
#include <set>

#include <mastic/checkpoint/image.hpp>
#include <mastic/checkpoint/store.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>

namespace mastic::checkpoint {

namespace fs = std::filesystem;

namespace {

void make_directory(const fs::path& path) {
    std::error_code error;
    if (fs::create_directories(path, error)) {
        sync_directory(path.parent_path());
    }
    if (error) {
        throw_file_error("make the directory", path, error.value(),
                         "choose a run directory that you may write to, on a disk with space");
    }
}

void rename_directory(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) {
        throw_file_error("rename " + from.string() + " to", to, error.value());
    }
}

void remove_tree(const fs::path& path) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) {
        throw_file_error("remove", path, error.value());
    }
}

// Removes what lies in the directory under a name that `unwanted` picks.
template <class Unwanted>
void remove_if(const fs::path& directory, Unwanted unwanted) {
    std::error_code error;
    for (fs::directory_iterator item(directory, error), end; !error && item != end; item.increment(error)) {
        if (unwanted(item->path().filename().string())) {
            remove_tree(item->path());
        }
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        throw_file_error("read the directory", directory, error.value());
    }
}

bool is_there(const fs::path& path) {
    std::error_code unreadable;
    return fs::exists(path, unreadable);
}

// Removes a writer's files again unless the shard is complete.
class ShardFiles {
  public:
    explicit ShardFiles(fs::path directory) : directory_(std::move(directory)) {}
    ~ShardFiles() {
        if (complete_) {
            return;
        }
        std::error_code ignored;
        for (const std::string& name : names_) {
            fs::remove(directory_ / name, ignored);
        }
        fs::remove(directory_, ignored);  // only succeeds if empty: no other writer has begun
    }
    ShardFiles(const ShardFiles&) = delete;
    ShardFiles& operator=(const ShardFiles&) = delete;
    void add(const std::string& name) { names_.push_back(name); }
    void complete() { complete_ = true; }

  private:
    fs::path directory_;
    std::vector<std::string> names_;
    bool complete_ = false;
};

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

// The files of all writers, in the order of the writers.
std::vector<FileRecord> merge(std::span<const ShardRecord> records) {
    std::vector<const ShardRecord*> ordered(records.size());
    for (const ShardRecord& record : records) {
        const bool fits = record.writers == static_cast<int>(records.size()) && record.writer >= 0 &&
                          record.writer < record.writers &&
                          ordered[static_cast<std::size_t>(record.writer)] == nullptr;
        if (!fits) {
            throw Error(ExitCode::usage, "the record of writer " + std::to_string(record.writer) + " of " +
                                             std::to_string(record.writers) + " does not fit among " +
                                             std::to_string(records.size()) + " records");
        }
        ordered[static_cast<std::size_t>(record.writer)] = &record;
    }
    std::vector<FileRecord> files;
    for (const ShardRecord* record : ordered) {
        files.insert(files.end(), record->files.begin(), record->files.end());
    }
    return files;
}

// A killed run may have left shards of another number of writers in the same unfinished generation.
void remove_strangers(const fs::path& directory, const std::vector<FileRecord>& files) {
    std::set<std::string> known;
    for (const FileRecord& file : files) {
        known.insert(file.name);
    }
    remove_if(directory, [&](const std::string& name) { return !known.contains(name); });
}

bool is_whole(const GenerationPath& generation) {
    try {
        const CheckpointManifest manifest = read_generation_manifest(generation);
        return std::ranges::all_of(manifest.files, [&](const FileRecord& file) {
            std::error_code error;
            return fs::file_size(generation.path / file.name, error) == file.bytes;
        });
    } catch (const Error&) {
        return false;
    }
}

bool is_valid(const GenerationPath& generation) {
    try {
        return check_generation(generation, read_generation_manifest(generation)).empty();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path directory, StoreOptions options)
    : directory_(std::move(directory)), options_(std::move(options)) {
    if (!options_.now) {
        options_.now = utc_now;
    }
}

fs::path CheckpointStore::path(std::uint64_t step, GenerationStatus status) const {
    return generation_path(directory_, step, status);
}

void CheckpointStore::pass(const char* point) const {
    if (options_.fault_point) {
        options_.fault_point(point);
    }
}

ShardRecord CheckpointStore::write_shard(std::uint64_t step, int writer, int writers,
                                         const State& state) const {
    const auto images = plan_images(state.entries, options_.image_bytes);
    const fs::path directory = path(step, GenerationStatus::partial);
    make_directory(fs::absolute(directory_));  // for the sync of its parent
    make_directory(directory);
    ShardFiles files(directory);
    ShardRecord record{writer, writers, {}};
    for (std::size_t k = 0; k < images.size(); ++k) {
        const Image image = encode_image(images[k]);
        const std::string name = shard_name(writer, writers, k);
        files.add(name);
        const std::uint64_t sum = write_durably(directory / name, image.bytes, options_.fault_point);
        record.files.push_back({name, image.bytes.size(), sum, image.datasets});
    }
    sync_directory(directory);
    files.complete();
    pass("shard-written");
    return record;
}

CommitReport CheckpointStore::commit(const GenerationInfo& info, std::span<const ShardRecord> records) const {
    const GenerationPath partial{info.step, GenerationStatus::partial,
                                 path(info.step, GenerationStatus::partial)};
    try {
        CheckpointManifest manifest;
        manifest.step = info.step;
        manifest.samples = info.samples;
        manifest.created = options_.now();
        manifest.world_size = info.world_size;
        manifest.facts = info.facts;
        manifest.files = merge(records);
        check_coverage(manifest);
        make_directory(partial.path);  // a state without any tensor has no shard that made it
        remove_strangers(partial.path, manifest.files);
        write_file_atomically(partial.path / manifest_name, to_text(manifest));
        pass("manifest-written");
        const std::vector<Finding> findings = check_generation(partial, read_generation_manifest(partial));
        if (!findings.empty()) {
            throw Error(ExitCode::io,
                        "what was just written does not read back: " + partial.path.string() + ": " +
                            to_text(findings.front()),
                        "check the file system");
        }
        pass("generation-proven");
        publish(info.step);
    } catch (...) {
        abandon(info.step);
        throw;
    }
    return retain(info.step);
}

void CheckpointStore::publish(std::uint64_t step) const {
    const GenerationPath visible{step, GenerationStatus::committed, path(step, GenerationStatus::committed)};
    const fs::path aside = path(step, GenerationStatus::replaced);
    // At each moment one of the two older copies, if any is valid, stays.
    if (is_there(visible.path) && is_there(aside)) {
        remove_tree(is_valid(visible) ? aside : visible.path);
    }
    if (is_there(visible.path)) {
        rename_directory(visible.path, aside);
        pass("old-set-aside");
    }
    rename_directory(path(step, GenerationStatus::partial), visible.path);
    pass("generation-visible");
    sync_directory(directory_);
    pass("generation-committed");
    if (is_there(aside)) {
        remove_generation({step, GenerationStatus::replaced, aside});
    }
}

CommitReport CheckpointStore::retain(std::uint64_t proven) const {
    CommitReport report;
    try {
        const std::vector<GenerationPath> all = find_generations(directory_);
        std::vector<GenerationSummary> summaries;
        for (const GenerationPath& generation : all) {
            if (generation.status == GenerationStatus::committed) {
                summaries.push_back({generation.step, is_whole(generation)});
            }
        }
        report.removed = removable_steps(summaries, options_.retention, proven, best());
        for (const GenerationPath& generation : all) {
            const bool old = std::ranges::count(report.removed, generation.step) > 0;
            const bool unfinished =
                generation.status == GenerationStatus::partial && generation.step < proven;
            if (old || unfinished) {
                remove_generation(generation);
            }
        }
    } catch (const Error& error) {
        report.note = std::string("older checkpoints were not cleaned up: ") + error.what();
    }
    return report;
}

// Hidden first, by one rename: a removal that is interrupted must not leave half a generation.
void CheckpointStore::remove_generation(const GenerationPath& generation) const {
    const fs::path hidden = path(generation.step, GenerationStatus::partial);
    if (generation.status != GenerationStatus::partial) {
        remove_tree(hidden);
        rename_directory(generation.path, hidden);
        pass("old-hidden");
    }
    remove_tree(hidden);
    pass("old-removed");
}

void CheckpointStore::abandon(std::uint64_t step) const {
    std::error_code ignored;  // what stays is removed by the next writer
    fs::remove_all(path(step, GenerationStatus::partial), ignored);
}

void CheckpointStore::remove_leftovers() const {
    for (const GenerationPath& generation : find_generations(directory_)) {
        const GenerationPath visible{generation.step, GenerationStatus::committed,
                                     path(generation.step, GenerationStatus::committed)};
        if (generation.status == GenerationStatus::partial) {
            remove_tree(generation.path);
        } else if (generation.status == GenerationStatus::replaced && !is_there(visible.path)) {
            rename_directory(generation.path, visible.path);
        } else if (generation.status == GenerationStatus::replaced && is_valid(visible)) {
            remove_generation(generation);
        }
    }
    remove_if(directory_, [](const std::string& name) { return name.starts_with("best.json.tmp-"); });
}

void CheckpointStore::discard_newer_than(std::uint64_t step) const {
    for (const GenerationPath& generation : find_generations(directory_)) {
        if (generation.step > step) {
            remove_generation(generation);
        }
    }
}

}  // namespace mastic::checkpoint
