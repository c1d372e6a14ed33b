#include "fault/checkpoint_damage.hpp"

#include <fstream>
#include <stdexcept>

#include "fault/checkpoint_state.hpp"
#include "support/temp_dir.hpp"

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/random.hpp>

namespace mastic::test {

using namespace mastic::checkpoint;
namespace fs = std::filesystem;

namespace {

constexpr int writers = 2;

// The newer generation's files, with their intact content.
class Victim {
  public:
    explicit Victim(const fs::path& directory) : store_(directory, small_store_options()) {
        save_step(store_, 1, writers);
        save_step(store_, 2, writers);
        const GenerationPath newest = store_.list().front();
        manifest_ = read_generation_manifest(newest);
        for (const std::string& name : names_in(newest.path)) {
            files_.push_back({newest.path / name, read_text_file(newest.path / name)});
        }
    }

    struct File {
        fs::path path;
        std::string content;
    };
    // A file chosen by its share of all bytes or, every other time, each with the same chance: so that small
    // ones are hit.
    const File& choose(CounterRandom& random) const {
        if (random.below(2) == 0) {
            return files_[random.below(files_.size())];
        }
        std::uint64_t total = 0;
        for (const File& file : files_) {
            total += file.content.size();
        }
        std::uint64_t byte = random.below(total);
        for (const File& file : files_) {
            if (byte < file.content.size()) {
                return file;
            }
            byte -= file.content.size();
        }
        throw std::logic_error("no file has this byte");
    }
    // The data set that holds this byte, or an empty text.
    std::string dataset_at(const File& file, std::uint64_t byte) const {
        for (const FileRecord& record : manifest_.files) {
            if (record.name != file.path.filename()) {
                continue;
            }
            for (const DatasetRecord& dataset : record.datasets) {
                if (byte >= dataset.position && byte < dataset.position + dataset.bytes) {
                    return dataset.name;
                }
            }
        }
        return "";
    }
    const CheckpointStore& store() const { return store_; }

  private:
    CheckpointStore store_;
    CheckpointManifest manifest_;
    std::vector<File> files_;
};

void judge(const CheckpointStore& store, const std::string& file, const std::string& dataset,
           const std::string& what, DamageReport& report) {
    ++report.injected;
    std::string outcome;
    try {
        const auto restored = store.restore();
        const bool detected = restored && restored->skipped.size() == 1;
        const std::string reason = detected ? restored->skipped[0].reason : "";
        const bool named =
            detected && reason.find(file) != std::string::npos && reason.find(dataset) != std::string::npos;
        const bool older_used = detected && restored->manifest.step == 1 &&
                                difference_from_step(restored->state, 1, writers).empty();
        report.detected += detected ? 1 : 0;
        report.named += named ? 1 : 0;
        report.older_used += older_used ? 1 : 0;
        outcome = detected && named && older_used ? "" : "restored, saying \"" + reason + "\"";
    } catch (const Error& error) {
        outcome = error.full_message();
    }
    if (!outcome.empty()) {
        report.failures.push_back(what + ": " + outcome);
    }
}

void write_byte(const fs::path& path, std::uint64_t position, char value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(position));
    file.put(value);
    if (!file.flush()) {
        throw std::runtime_error("cannot damage " + path.string());
    }
}

}  // namespace

DamageReport flip_bits(const fs::path& directory, int count, std::uint64_t seed) {
    const Victim victim(directory);
    CounterRandom random(seed);
    DamageReport report;
    for (int i = 0; i < count; ++i) {
        const Victim::File& file = victim.choose(random);
        const std::uint64_t byte = random.below(file.content.size());
        const auto bit = static_cast<int>(random.below(8));
        const std::string name = file.path.filename().string();
        write_byte(file.path, byte, static_cast<char>(file.content[byte] ^ (1 << bit)));
        judge(victim.store(), name, victim.dataset_at(file, byte),
              "bit " + std::to_string(bit) + " of byte " + std::to_string(byte) + " of " + name, report);
        write_byte(file.path, byte, file.content[byte]);
    }
    return report;
}

DamageReport cut_files(const fs::path& directory, int count, std::uint64_t seed) {
    const Victim victim(directory);
    CounterRandom random(seed);
    DamageReport report;
    for (int i = 0; i < count; ++i) {
        const Victim::File& file = victim.choose(random);
        const std::uint64_t length = random.below(file.content.size());
        const std::string name = file.path.filename().string();
        fs::resize_file(file.path, length);
        judge(victim.store(), name, "", name + " cut to " + std::to_string(length) + " bytes", report);
        write_file(file.path, file.content);
    }
    return report;
}

}  // namespace mastic::test
