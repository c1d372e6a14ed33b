#include <mastic/elastic/generation_store.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mastic/core/file.hpp>
#include <mastic/elastic/secret.hpp>

namespace mastic::elastic {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* action, const fs::path& path) {
    throw_file_error(action, path, errno, "the run directory must be on a file system that all members can write to");
}

void make_private(const fs::path& directory) {
    std::error_code error;
    fs::create_directories(directory.parent_path(), error);
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
        fail("make", directory);
    }
}

// 0: not the name of a generation.
GenerationId id_of(const fs::path& file) {
    GenerationId id = 0;
    const std::string name = file.stem().string();
    const auto end = std::from_chars(name.data(), name.data() + name.size(), id);
    return file.extension() == ".json" && end.ptr == name.data() + name.size() ? id : 0;
}

Descriptor open_lock(const fs::path& file) {
    Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!descriptor.valid()) {
        fail("open", file);
    }
    return descriptor;
}

}  // namespace

DirectoryStore::DirectoryStore(const fs::path& elastic_directory)
    : directory_(elastic_directory / "generations") {
    make_private(elastic_directory);
    make_private(directory_);
    alive_ = open_lock(elastic_directory / "alive");
    founding_ = open_lock(elastic_directory / "founding");
}

fs::path DirectoryStore::file_of(GenerationId id) const {
    std::string number = std::to_string(id);
    constexpr std::size_t digits = 6;
    number.insert(0, digits - std::min(digits, number.size()), '0');
    return directory_ / (number + ".json");
}

std::optional<Generation> DirectoryStore::newest() const {
    GenerationId last = 0;
    for (const auto& entry : fs::directory_iterator(directory_)) {
        last = std::max(last, id_of(entry.path()));
    }
    return last == 0 ? std::nullopt : read(last);
}

std::optional<Generation> DirectoryStore::read(GenerationId id) const {
    const fs::path file = file_of(id);
    if (!fs::exists(file)) {
        return std::nullopt;
    }
    return generation_from_json(read_text_file(file), file.string());
}

bool DirectoryStore::commit(const Generation& generation) {
    const fs::path target = file_of(generation.id);
    const fs::path draft = target.string() + "." + random_id();
    write_file_atomically(draft, to_json(generation), 0600);
    // What link() returns can be lost on its way from a file server; the number of names cannot.
    const int linked = ::link(draft.c_str(), target.c_str());
    const int error = errno;
    struct stat status {};
    const bool ours = linked == 0 || (::stat(draft.c_str(), &status) == 0 && status.st_nlink == 2);
    ::unlink(draft.c_str());
    if (!ours && error != EEXIST) {
        errno = error;
        fail("commit", target);
    }
    sync_directory(directory_);
    return ours;
}

bool DirectoryStore::nobody_is_alive() {
    const bool nobody = ::flock(alive_.get(), LOCK_EX | LOCK_NB) == 0;
    if (nobody) {
        ::flock(alive_.get(), LOCK_UN);
    }
    return nobody;
}

bool DirectoryStore::take_turn_to_found() {
    const bool taken = ::flock(founding_.get(), LOCK_EX | LOCK_NB) == 0;
    if (!taken && errno != EWOULDBLOCK) {
        fail("lock the file 'founding' next to", directory_);
    }
    return taken;
}

void DirectoryStore::end_turn_to_found() { ::flock(founding_.get(), LOCK_UN); }

void DirectoryStore::declare_alive() {
    // Somebody may be looking at this moment whether nobody is alive.
    constexpr int most_tries = 100;
    for (int tries = 1; ::flock(alive_.get(), LOCK_SH | LOCK_NB) != 0; ++tries) {
        if (tries == most_tries) {
            fail("lock the file 'alive' next to", directory_);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace mastic::elastic
